#pragma once

#include "kernels/gemm_config.h"

/// Many products in one launch: of one size (batched), or with rows of A dealt to experts (grouped). A is
/// bf16 and quantised on the way; each B is shuffled as for mxfp4_gemm_fused, one after another in memory.
namespace nereid::kernels {

/// GemmConfig without splits of K, and `experts`: a power of two that is at least the number of experts.
struct GroupedConfig {
  int block_m = 16;
  int block_n = 64;
  int block_k = 256;
  int waves = 4;
  int stages = 2;
  int mfma = 16;
  int waves_per_eu = 0;
  WaveSplit wave_split = WaveSplit::Auto;
  int experts = 8;
  int constant_k = 0;
  int whole_m = 0;
  int whole_n = 0;
  int whole_k = 0;

  NEREID_CONFIG(GroupedConfig, block_m, block_n, block_k, waves, stages, mfma, waves_per_eu, wave_split,
                experts, constant_k, whole_m, whole_n, whole_k)

  GemmConfig gemm() const;
};

/// C[i] = A[i] times B[i] transposed: A bf16 [batch, m, k], C bf16 [batch, m, n]. Programs: (n in blocks, m
/// in blocks, batch).
void mxfp4_batched_gemm(const GroupedConfig &config, Ptr<const bf16> a, Ptr<const u8> b,
                        Ptr<const u8> b_scales, Ptr<bf16> out, Int m, Int n, Int k);

/// Rows of A bf16 [rows, k] are sorted by expert; expert e has the rows from ends[e - 1] (0 for the first) up
/// to ends[e], none or many. Row r of C bf16 [rows, n] is row r of A times the transposed B of its expert.
/// Programs: (n in blocks, grouped_row_blocks, 1): those beyond the blocks there are do nothing.
void mxfp4_grouped_gemm(const GroupedConfig &config, Ptr<const bf16> a, Ptr<const i32> ends, Ptr<const u8> b,
                        Ptr<const u8> b_scales, Ptr<bf16> out, Int experts, Int n, Int k);

/// Programs that suffice for the row blocks of any split of the rows among experts.
constexpr int64_t grouped_row_blocks(int64_t rows, int64_t experts, int64_t block_m) {
  const int64_t shared = rows < experts ? rows : experts;
  return shared + (rows - shared) / block_m;
}

} // namespace nereid::kernels
