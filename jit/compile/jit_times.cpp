// The printed names of caches.
#include "jit/compile/jit_times.h"

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

} // namespace nereid
