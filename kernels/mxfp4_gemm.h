#pragma once

#include "kernels/library_kernel.h"
#include "kernels/specialize.h"

namespace nereid::kernels {

/// How the partial sums of a K split come together.
enum class Reduce : int { None, Atomic, Workspace, LastArrival };
constexpr auto nereid_config_names(Reduce) {
  return std::to_array<std::string_view>({"none", "atomic", "workspace", "last_arrival"});
}

/// Whether a launch writes bf16; else it leaves f32 sums that remain to be reduced.
constexpr bool writes_bf16(Reduce reduce) { return reduce == Reduce::None || reduce == Reduce::LastArrival; }

/// How a product is computed: its tile, and how K is split and reduced.
struct GemmConfig {
  TileConfig tile;
  int split_k = 1; ///< programs that share the K of a tile
  Reduce reduce = Reduce::None;

  NEREID_CONFIG(GemmConfig, tile, split_k, reduce)
};

/// Where the splits of K leave their parts with reduce = last_arrival. Launches that may run at a time need
/// workspaces of their own.
struct SplitWorkspace {
  DeviceMemory slices;   ///< f32 [split_k, m, n]
  DeviceMemory arrivals; ///< i32, gemm_tiles of them, zeroed once
};

/// Tiles of the output.
int64_t gemm_tiles(const TileConfig &config, const ProblemSize &size);

/// `out` is bf16 [m, n] where writes_bf16, else f32: zeroed [m, n] for atomic, [split_k, m, n] for workspace.
struct FusedOperands {
  DeviceMemory a;        ///< bf16 [m, k]
  DeviceMemory b;        ///< shuffled codes
  DeviceMemory b_scales; ///< shuffled
  DeviceMemory out;
  SplitWorkspace workspace = {};
};

/// The same of quantised A. The epilogue applies where out is bf16.
struct GemmOperands {
  DeviceMemory a;        ///< u8 [m, k/2]
  DeviceMemory a_scales; ///< shuffled
  DeviceMemory b;
  DeviceMemory b_scales;
  DeviceMemory out;
  Epilogue epilogue = {};
  SplitWorkspace workspace = {};
};

// The MXFP4 products. B is (16,16)-shuffled codes with shuffled scales, as kernels/host/shuffle.h writes
// them; k is a multiple of 32, n of 16. Programs: (n in blocks, split_k, m in blocks).

/// C = A times B transposed; A is quantised to MXFP4 (even rule) on the way.
extern const LibraryKernel<GemmConfig, FusedOperands> gemm_fused_kernel;
/// Its function for reduce = none (Out is bf16), atomic and workspace (f32).
template <class Out>
void mxfp4_gemm_fused(const Specialized<GemmConfig> &specialized, Ptr<const bf16> a, Ptr<const u8> b,
                      Ptr<const u8> b_scales, Ptr<Out> out, Int m, Int n, Int k);
/// D = alpha A B + beta C; C may be what D is.
extern const LibraryKernel<GemmConfig, GemmOperands> gemm_kernel;

} // namespace nereid::kernels
