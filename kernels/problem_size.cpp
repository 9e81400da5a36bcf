// Which problem sizes the library takes.
#include "kernels/problem_size.h"

#include <fmt/format.h>

namespace nereid::kernels {

std::string ProblemSize::text() const {
  return n == 0 ? fmt::format("{}x{}", m, k) : fmt::format("{}x{}x{}", m, n, k);
}

namespace {

Status check_dimension(std::string_view name, int64_t size, const DimensionRule &rule) {
  if (size < rule.min)
    return user_error(fmt::format("{} = {} is {}", name, size, rule.min > 0 ? "not positive" : "negative"));
  if (size > rule.max)
    return user_error(fmt::format("{} = {} is too large: it is at most {}", name, size, rule.max));
  if (size % rule.multiple_of != 0)
    return user_error(fmt::format("{} = {} is not a multiple of {}", name, size, rule.multiple_of),
                      fmt::format("pad {} with zeros to the next multiple of {}", name, rule.multiple_of));
  return {};
}

} // namespace

Status check_shape(const ProblemSize &shape, const SizeRule &rule) {
  NEREID_CHECK(check_dimension("M", shape.m, rule.m));
  NEREID_CHECK(check_dimension("N", shape.n, rule.n));
  return check_dimension("K", shape.k, rule.k);
}

} // namespace nereid::kernels
