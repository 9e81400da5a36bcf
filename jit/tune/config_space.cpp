// Combinations of the values of axes.
#include "jit/tune/config_space.h"

#include <set>

#include <fmt/format.h>

namespace nereid::detail {
namespace {

constexpr size_t max_combinations = 65536;

Status check(std::span<const ConfigAxis> axes) {
  size_t combinations = 1;
  std::set<std::string_view> fields;
  for (const ConfigAxis &axis : axes) {
    if (!fields.insert(axis.field).second)
      return user_error(fmt::format("a config space has two axes of '{}'", axis.field),
                        "Give all values of a field to one axis");
    if (axis.values.empty())
      return user_error(fmt::format("the axis '{}' of a config space has no values", axis.field));
    combinations *= axis.values.size(); // at most 2^16 before, and no vector has 2^48 strings
    if (combinations > max_combinations)
      return user_error(fmt::format("a config space has more than {} combinations", max_combinations),
                        "Give its axes fewer values");
  }
  return {};
}

/// The next combination; false after the last.
bool advance(std::span<const ConfigAxis> axes, std::vector<size_t> &chosen) {
  for (size_t i = axes.size(); i-- > 0;) {
    if (++chosen[i] < axes[i].values.size())
      return true;
    chosen[i] = 0;
  }
  return false;
}

} // namespace

Status for_each_combination(std::span<const ConfigAxis> axes,
                            const std::function<Status(const std::vector<size_t> &)> &visit) {
  NEREID_CHECK(check(axes));
  std::vector<size_t> chosen(axes.size());
  do
    NEREID_CHECK(visit(chosen));
  while (advance(axes, chosen));
  return {};
}

} // namespace nereid::detail
