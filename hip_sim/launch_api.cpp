// Launches.
#include <algorithm>
#include <cstring>
#include <limits>

#include "hip_sim/entry.h"
#include "hip_sim/event.h"
#include "hip_sim/launch.h"
#include "hip_sim/log.h"
#include "hip_sim/module.h"
#include "sim/state/isa_limits.h"

namespace nereid::hip_sim {
namespace {

/// The block of arguments in `extra`.
struct ArgumentBlock {
  const std::byte *bytes = nullptr;
  size_t size = 0;
};

/// False when `extra` is not as HIP wants it.
bool read_extra(void **extra, ArgumentBlock &block) {
  const size_t *size = nullptr;
  for (;; extra += 2) {
    switch (reinterpret_cast<uintptr_t>(extra[0])) {
    case HIP_LAUNCH_PARAM_BUFFER_POINTER:
      block.bytes = static_cast<const std::byte *>(extra[1]);
      break;
    case HIP_LAUNCH_PARAM_BUFFER_SIZE:
      size = static_cast<const size_t *>(extra[1]);
      break;
    case HIP_LAUNCH_PARAM_END:
      block.size = size ? *size : 0;
      return block.bytes && size;
    default:
      return false;
    }
  }
}

bool is_empty(const dim3 &extent) { return extent.x == 0 || extent.y == 0 || extent.z == 0; }

/// HIP counts the work-items of a dimension in 32 bits.
bool fits(uint32_t blocks, uint32_t items) {
  return uint64_t{blocks} * items <= std::numeric_limits<uint32_t>::max();
}

/// Whether the stream's device can run it: a module is loaded on one device.
hipError_t check_launch_on(Runtime &hip, const Stream &stream, const LaunchRequest &request) {
  NEREID_HIP_CHECK(check_launch(hip, request));
  return hip.functions.find(request.function)->device == stream.device ? hipSuccess : hipErrorInvalidHandle;
}

hipError_t launch(Runtime &hip, Lock &lock, Stream &stream, const LaunchRequest &request) {
  NEREID_HIP_CHECK(check_launch_on(hip, stream, request));
  if (!hip.launches && !stream.capture)
    return hipSuccess;
  return submit(hip, lock, stream, launch_work(hip, request));
}

/// Records an event that may be absent.
hipError_t record_around(Runtime &hip, Stream &stream, hipEvent_t event) {
  if (!event)
    return hipSuccess;
  const std::shared_ptr<Event> found = hip.events.find(event);
  if (!found || found->device != stream.device)
    return hipErrorInvalidHandle;
  if (stream.capture)
    return hipErrorStreamCaptureUnsupported;
  found->recorded = append(hip, stream, std::monostate());
  return hipSuccess;
}

} // namespace

hipError_t check_launch(Runtime &hip, const LaunchRequest &request) {
  const auto function = hip.functions.find(request.function);
  if (!function)
    return hipErrorInvalidDeviceFunction;
  const sim::KernelInfo &kernel = *function->kernel;
  const dim3 &grid = request.grid, &block = request.block;
  if (is_empty(grid) || is_empty(block))
    return hipErrorInvalidConfiguration;
  if (!fits(grid.x, block.x) || !fits(grid.y, block.y) || !fits(grid.z, block.z))
    return hipErrorInvalidConfiguration;
  const uint32_t most = std::min(kernel.max_workgroup_size, sim::max_work_items);
  if (block.x > most || block.y > most || block.z > most || uint64_t{block.x} * block.y * block.z > most ||
      (kernel.required_block && *kernel.required_block != std::array{block.x, block.y, block.z}))
    return hipErrorInvalidConfiguration;
  if (request.dynamic_lds > sim::max_lds || kernel.lds_size + request.dynamic_lds > sim::max_lds)
    return hipErrorLaunchOutOfResources;
  if (request.extra) {
    ArgumentBlock arguments;
    // One of the two ways, never both.
    if (request.arguments || !read_extra(request.extra, arguments) || arguments.size < kernel.explicit_size())
      return hipErrorInvalidValue;
  } else if (!request.arguments && kernel.explicit_size() > 0) {
    return hipErrorInvalidValue;
  }
  return hipSuccess;
}

KernelWork launch_work(Runtime &hip, const LaunchRequest &request) {
  KernelWork work;
  work.function = hip.functions.find(request.function);
  work.grid = {request.grid.x, request.grid.y, request.grid.z};
  work.block = {request.block.x, request.block.y, request.block.z};
  work.dynamic_lds = static_cast<uint32_t>(request.dynamic_lds);
  const sim::KernelInfo &kernel = *work.function->kernel;
  ArgumentBlock block;
  if (request.extra && read_extra(request.extra, block)) {
    work.arguments.assign(block.bytes, block.bytes + kernel.explicit_size());
    return work;
  }
  work.arguments.resize(kernel.explicit_size());
  size_t next = 0;
  for (const sim::KernelArgument &argument : kernel.arguments)
    if (!argument.hidden())
      std::memcpy(work.arguments.data() + argument.offset, request.arguments[next++], argument.size);
  return work;
}

hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                 unsigned block_x, unsigned block_y, unsigned block_z, unsigned dynamic_lds,
                                 hipStream_t stream, void **arguments, void **extra) {
  return call_on_stream(Entry::hipModuleLaunchKernel, stream, [&](Runtime &hip, Lock &lock, Stream &on) {
    return launch(
        hip, lock, on,
        {function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, dynamic_lds, arguments, extra});
  });
}

hipError_t hipExtModuleLaunchKernel(hipFunction_t function, unsigned items_x, unsigned items_y,
                                    unsigned items_z, unsigned block_x, unsigned block_y, unsigned block_z,
                                    size_t dynamic_lds, hipStream_t stream, void **arguments, void **extra,
                                    hipEvent_t start, hipEvent_t stop, unsigned) {
  return call_on_stream(Entry::hipExtModuleLaunchKernel, stream, [&](Runtime &hip, Lock &lock, Stream &on) {
    const dim3 block{block_x, block_y, block_z};
    if (is_empty(block) || items_x % block_x || items_y % block_y || items_z % block_z)
      return hipErrorInvalidConfiguration;
    const LaunchRequest request{function,  {items_x / block_x, items_y / block_y, items_z / block_z},
                                block,     dynamic_lds,
                                arguments, extra};
    NEREID_HIP_CHECK(check_launch_on(hip, on, request));
    NEREID_HIP_CHECK(record_around(hip, on, start));
    NEREID_HIP_CHECK(launch(hip, lock, on, request));
    return record_around(hip, on, stop);
  });
}

hipError_t hipLaunchKernel(const void *, dim3, dim3, void **, size_t, hipStream_t) {
  return call(Entry::hipLaunchKernel, [&](Runtime &hip, Lock &) {
    log(hip.options.log, LogLevel::Faults,
        "hipLaunchKernel: kernels inside the host program (<<<>>>) are not supported; load a code object "
        "with hipModuleLoad and launch with hipModuleLaunchKernel");
    return hipErrorNotSupported;
  });
}

} // namespace nereid::hip_sim
