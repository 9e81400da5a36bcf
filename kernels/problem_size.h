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

/// What check_shape takes: offsets within a tile are 32 bits wide, and a group of 32 along K has one scale.
inline constexpr int64_t max_m = int64_t{1} << 20;
inline constexpr int64_t max_n_or_k = int64_t{1} << 21;
inline constexpr int64_t n_granule = 16;
inline constexpr int64_t k_granule = 32;

/// Programs needed for `size` in blocks of `block`.
constexpr int64_t blocks(int64_t size, int64_t block) { return (size + block - 1) / block; }

/// Error (User) unless m, n and k are positive, n is a multiple of 16 and k of 32. Without has_n n is 0.
Status check_shape(const ProblemSize &shape, bool has_n = true);

} // namespace nereid::kernels
