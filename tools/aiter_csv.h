#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kernels/problem_size.h"

namespace nereid::tools {

/// What aiter's tuner found for a shape.
struct AiterRow {
  kernels::ProblemSize size;
  int tile_m = 0;
  int tile_n = 0;
  int split_k = 1; ///< programs that share the K of a tile
  double us = 0;   ///< measured with aiter's kernel
};

struct AiterRows {
  std::vector<AiterRow> rows;
  size_t other_devices = 0;  ///< rows of devices without 256 compute units, or not of gfx950
  size_t without_kernel = 0; ///< rows for which aiter found no kernel, or whose tile its name does not tell
};

/// Reads aiter's a4w4_blockscale_tuned_gemm.csv: a header and a line a shape with the columns M, N, K, us,
/// kernelName, and perhaps cu_num, gfx, splitK (the binary logarithm of the splits) and others. `name` is
/// what messages call it. Error (User): a column is missing, or a line has a number that is none.
Result<AiterRows> read_aiter_csv(std::string_view text, const std::string &name);

} // namespace nereid::tools
