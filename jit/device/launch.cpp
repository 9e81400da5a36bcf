#include "jit/device/launch.h"

#include <fmt/format.h>

#include "jit/compile/compiled_kernel.h"

namespace nereid {

Status Grid::check() const {
  // Every launch comes here: what is right allocates nothing.
  if (count() && x <= max_x && y <= max_y_or_z && z <= max_y_or_z)
    return {};
  const std::string text = fmt::format("the grid is {} x {} x {}", x, y, z);
  if (!count())
    return user_error(text + ": it has no programs");
  if (x > max_x)
    return user_error(fmt::format("{}: x is more than 2^31 - 1", text),
                      "Spread the programs over x and y, or give each more work");
  return user_error(fmt::format("{}: {} is more than {}", text, y > max_y_or_z ? "y" : "z", max_y_or_z),
                    "Put the dimension with the most programs into x, or give each program more work");
}

std::string_view name_of(CacheLevel level) {
  switch (level) {
  case CacheLevel::None:
    return "none";
  case CacheLevel::Memory:
    return "memory";
  case CacheLevel::Disk:
    return "disk";
  }
  return "none";
}

std::string_view LaunchInfo::kernel() const { return compiled->name(); }
std::string_view LaunchInfo::config() const { return compiled->config(); }
std::array<uint32_t, 3> LaunchInfo::block() const { return {compiled->block(), 1, 1}; }
const Resources &LaunchInfo::resources() const { return compiled->resources(); }

} // namespace nereid
