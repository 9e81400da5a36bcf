#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "base/result.h"

namespace nereid::kernels {

/// A problem size: A is [m, k], B is [n, k], C is [m, n]. The quantiser's n is 0.
struct ProblemSize {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;

  auto operator<=>(const ProblemSize &) const = default;
  /// "16x2112x7168".
  std::string text() const;
};

/// The largest that most kernels take, as offsets within a tile are 32 bits wide; and of MXFP4 products: rows
/// of a shuffled B, and the elements along K that have one scale.
inline constexpr int64_t max_m = int64_t{1} << 20;
inline constexpr int64_t max_n_or_k = int64_t{1} << 21;
inline constexpr int64_t n_granule = 16;
inline constexpr int64_t k_granule = 32;

/// Programs needed for `size` in blocks of `block`.
constexpr int64_t blocks(int64_t size, int64_t block) { return (size + block - 1) / block; }

/// What a kernel takes of a dimension of its size.
struct DimensionRule {
  int64_t min = 1; ///< 0 or 1
  int64_t max = max_n_or_k;
  int64_t multiple_of = 1;

  /// The kernel has no such dimension: it is 0.
  static constexpr DimensionRule absent() { return {0, 0}; }
  /// The kernel does not look at it.
  static constexpr DimensionRule ignored() { return {0, INT64_MAX}; }

  bool is_absent() const { return max == 0; }
  bool is_ignored() const { return max == INT64_MAX; }
};

/// What a kernel takes of its size.
struct SizeRule {
  DimensionRule m, n, k;
};

/// Of a product in MXFP4: a group of 32 along K has one scale, and 16 rows of B are shuffled together.
inline constexpr SizeRule product_rule{{1, max_m}, {1, max_n_or_k, n_granule}, {1, max_n_or_k, k_granule}};
/// Of a matrix [m, k] in MXFP4.
inline constexpr SizeRule quantized_rule{{1, max_m}, DimensionRule::absent(), {1, max_n_or_k, k_granule}};

/// Error (User) naming the dimension that the rule does not take.
Status check_shape(const ProblemSize &shape, const SizeRule &rule = product_rule);

} // namespace nereid::kernels
