#pragma once

#include "kernels/library_kernel.h"
#include "kernels/specialize.h"

/// Many products in one launch: of one size (batched), or with rows of A dealt to experts (grouped). A is
/// bf16 and quantised on the way; each B is shuffled as for mxfp4_gemm_fused, one after another in memory.
namespace nereid::kernels {

/// How the products of one launch are computed.
struct GroupedConfig {
  TileConfig tile;
  int experts = 8; ///< a power of two that is at least the number of experts

  NEREID_CONFIG(GroupedConfig, tile, experts)
};

/// Programs that suffice for the row blocks of any split of the rows among experts.
constexpr int64_t grouped_row_blocks(int64_t rows, int64_t experts, int64_t block_m) {
  const int64_t shared = rows < experts ? rows : experts;
  return shared + (rows - shared) / block_m;
}

/// Products of one size, one after another in memory.
struct BatchedOperands {
  DeviceMemory a;        ///< bf16 [batch, m, k]
  DeviceMemory b;        ///< shuffled codes of each product
  DeviceMemory b_scales; ///< shuffled
  DeviceMemory out;      ///< bf16 [batch, m, n]
  int batch = 1;
};

/// m of the size is the number of rows of all experts.
struct GroupedOperands {
  DeviceMemory a;        ///< bf16 [m, k], rows sorted by expert
  DeviceMemory ends;     ///< i32 [experts]: the end of each expert's rows
  DeviceMemory b;        ///< shuffled codes of each expert
  DeviceMemory b_scales; ///< shuffled
  DeviceMemory out;      ///< bf16 [m, n]
  int experts = 1;
};

/// C[i] = A[i] times B[i] transposed. Programs: (n in blocks, m in blocks, batch).
extern const LibraryKernel<TileConfig, BatchedOperands> batched_kernel;
/// Expert e has the rows from ends[e - 1] (0 for the first) up to ends[e], none or many. Row r of C is row r
/// of A times the transposed B of its expert. Programs: (n in blocks, grouped_row_blocks, 1): those beyond
/// the blocks there are do nothing.
extern const LibraryKernel<GroupedConfig, GroupedOperands> grouped_kernel;

} // namespace nereid::kernels
