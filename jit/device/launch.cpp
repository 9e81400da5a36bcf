// Which grids a launch may have, and what is known of a launch by its kernel.
#include "jit/device/launch.h"

#include <fmt/format.h>

#include "jit/compile/compiled_kernel.h"

namespace nereid {
namespace {

bool is_within(int64_t programs, int64_t max) { return programs > 0 && programs <= max; }

} // namespace

Status Grid::check() const {
  // Every launch comes here: what is right allocates nothing.
  if (is_within(x, max_x) && is_within(y, max_y_or_z) && is_within(z, max_y_or_z))
    return {};
  const std::string text = fmt::format("the grid is {} x {} x {}", x, y, z);
  if (x < 0 || y < 0 || z < 0)
    return user_error(fmt::format("{}: {} is negative", text,
                                  x < 0   ? "x"
                                  : y < 0 ? "y"
                                          : "z"),
                      "Check the sizes of which it is computed, and their types");
  if (x == 0 || y == 0 || z == 0)
    return user_error(text + ": it has no programs");
  if (x > max_x)
    return user_error(fmt::format("{}: x is more than 2^31 - 1", text),
                      "Spread the programs over x and y, or give each more work");
  return user_error(fmt::format("{}: {} is more than {}", text, y > max_y_or_z ? "y" : "z", max_y_or_z),
                    "Put the dimension with the most programs into x, or give each program more work");
}

std::string LaunchInfo::kernel() const { return compiled->name(); }
std::string LaunchInfo::config() const { return compiled->config(); }
std::array<uint32_t, 3> LaunchInfo::block() const { return {compiled->block(), 1, 1}; }
std::string LaunchInfo::override_file() const { return compiled->override_file(); }
Resources LaunchInfo::resources() const { return compiled->resources(); }

} // namespace nereid
