#include "jit/launch.h"

#include "jit/compiled_kernel.h"

namespace nereid {

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
