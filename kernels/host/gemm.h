#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/host/quantize.h"

namespace nereid::kernels::host {

/// A [M, K] times the transpose of B [N, K]: f64 [M, N]. A group of 32 is summed as integers, groups are
/// summed in double precision: exact wherever the scales of a row and column pair lie within 2^40 of each
/// other. A NaN scale makes its row or column NaN. Uses all cores.
std::vector<double> gemm(const MxMatrix &a, const MxMatrix &b);

/// How far results are from their reference.
struct Comparison {
  double max_error = 0;               ///< largest absolute difference; infinite where only one is finite
  double bound_of_max_error = 0;      ///< what that element may differ by
  int64_t wrong = 0;                  ///< elements outside the tolerance
  std::optional<int64_t> first_wrong; ///< index of the first of them

  bool passed() const { return wrong == 0; }
};

/// Tolerances of the MXFP4 products.
inline constexpr double relative_tolerance = 1e-2;
inline constexpr double absolute_tolerance = 1e-2;

/// Compares bf16 results with their exact values: |result - exact| <= absolute + relative * |exact|, and NaN
/// and Inf exactly where the exact value rounded to bf16 has them.
Comparison compare(std::span<const uint16_t> result, std::span<const double> exact,
                   double relative = relative_tolerance, double absolute = absolute_tolerance);

} // namespace nereid::kernels::host
