// What a kernel may not take of a compute unit.
#include "jit/tune/resource_checks.h"

#include <fmt/format.h>

namespace nereid::jit {

Status check_resources(const CompiledKernel &kernel) {
  const Resources r = kernel.resources();
  if (r.scratch)
    return user_error(
        fmt::format("kernel '{}' spills to memory: {} bytes of scratch a lane", kernel.name(), r.scratch));
  if (!r.occupancy)
    return user_error(fmt::format("kernel '{}': a workgroup does not fit: {} registers a lane, {} bytes of "
                                  "LDS",
                                  kernel.name(), r.vgpr, r.lds));
  const int wanted = kernel.function().options.waves_per_eu;
  if (static_cast<int>(r.occupancy) < wanted)
    return user_error(fmt::format("kernel '{}' has {} waves a SIMD, waves_per_eu asks for {}", kernel.name(),
                                  r.occupancy, wanted));
  return {};
}

} // namespace nereid::jit
