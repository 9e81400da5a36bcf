// Which problem sizes the library takes.
#include "kernels/problem_size.h"

#include <fmt/format.h>

namespace nereid::kernels {

std::string ProblemSize::text() const {
  return n == 0 ? fmt::format("{}x{}", m, k) : fmt::format("{}x{}x{}", m, n, k);
}

Status check_shape(const ProblemSize &shape, bool has_n) {
  if (shape.m <= 0 || (has_n && shape.n <= 0) || shape.k <= 0) {
    const std::string n = has_n ? fmt::format("{}x", shape.n) : "";
    return user_error(
        fmt::format("the shape {}x{}{} has a dimension that is not positive", shape.m, n, shape.k));
  }
  if (shape.k % k_granule != 0)
    return user_error(fmt::format("K = {} is not a multiple of 32", shape.k),
                      "pad K with zeros to the next multiple of 32");
  if (shape.n % n_granule != 0)
    return user_error(fmt::format("N = {} is not a multiple of 16", shape.n),
                      "pad B with zero rows to the next multiple of 16");
  if (shape.m > max_m || shape.n > max_n_or_k || shape.k > max_n_or_k)
    return user_error(
        fmt::format("the shape {} is too large: M is at most 2^20, N and K 2^21", shape.text()));
  return {};
}

} // namespace nereid::kernels
