// The library itself, its devices, the current device of a thread.
#include <algorithm>

#include "hip_sim/capture.h"
#include "hip_sim/entry.h"
#include "hip_sim/event.h"
#include "hip_sim/module.h"
#include "hip_sim/thread.h"

namespace nereid::hip_sim {
namespace {

/// HIP 7.0, as hipRuntimeGetVersion writes it.
constexpr int version_number = 70000000;

struct Symbol {
  const char *name;
  void *function;
};

const Symbol symbols[] = {
#define NEREID_HIP(name, ...) {#name, reinterpret_cast<void *>(&name)},
#define NEREID_HIP_TEXT(name, ...) {#name, reinterpret_cast<void *>(&name)},
#include "hip_sim/entry_points.def"
};

hipError_t version_into(Entry entry, int *version) {
  return call_without_device(entry, [&](Runtime &, Lock &) {
    if (!version)
      return hipErrorInvalidValue;
    *version = version_number;
    return hipSuccess;
  });
}

/// Everything of a device goes; its fault is forgotten.
void reset(Runtime &hip, Lock &lock, Device &device) {
  hip.executor.finish_all(hip, lock, device);
  for (const auto &capture : std::vector(hip.captures))
    if (const auto origin = capture->streams.front().lock(); !origin || origin->device == &device)
      end(hip, *capture);
  hip.streams.remove_if([&](const Stream &stream) { return stream.device == &device; });
  hip.events.remove_if([&](const Event &event) { return event.device == &device; });
  for (auto at = hip.allocations.begin(); at != hip.allocations.end();) {
    const Allocation allocation = (at++)->second;
    if (allocation.device == device.index)
      hip.release(allocation.address);
  }
  device.blocking_tails.clear();
  device.null_stream->tail = nullptr;
  device.peers.clear();
  device.lost = hipSuccess;
}

} // namespace

hipError_t hipInit(unsigned flags) {
  return call(Entry::hipInit, [&](Runtime &, Lock &) { return flags ? hipErrorInvalidValue : hipSuccess; });
}
hipError_t hipDriverGetVersion(int *version) { return version_into(Entry::hipDriverGetVersion, version); }
hipError_t hipRuntimeGetVersion(int *version) { return version_into(Entry::hipRuntimeGetVersion, version); }

hipError_t hipGetProcAddress(const char *name, void **function, int, uint64_t, int *status) {
  return call_without_device(Entry::hipGetProcAddress, [&](Runtime &, Lock &) {
    if (!name || !function)
      return hipErrorInvalidValue;
    const auto *found = std::find_if(std::begin(symbols), std::end(symbols), [&](const Symbol &symbol) {
      return std::string_view(symbol.name) == name;
    });
    const bool known = found != std::end(symbols);
    *function = known ? found->function : nullptr;
    if (status)
      *status = known ? 0 : 1; // HIP_GET_PROC_ADDRESS_SUCCESS, ..._SYMBOL_NOT_FOUND
    return known ? hipSuccess : hipErrorInvalidValue;
  });
}

hipError_t hipGetDeviceCount(int *count) {
  return call_without_device(Entry::hipGetDeviceCount, [&](Runtime &hip, Lock &) {
    if (!count)
      return hipErrorInvalidValue;
    *count = static_cast<int>(hip.devices.size());
    return *count ? hipSuccess : hipErrorNoDevice;
  });
}

hipError_t hipSetDevice(int device) {
  return call(Entry::hipSetDevice, [&](Runtime &hip, Lock &) {
    if (!device_at(hip, device))
      return hipErrorInvalidDevice;
    this_thread().device = device;
    return hipSuccess;
  });
}

hipError_t hipGetDevice(int *device) {
  return call(Entry::hipGetDevice, [&](Runtime &, Lock &) {
    if (!device)
      return hipErrorInvalidValue;
    *device = this_thread().device;
    return hipSuccess;
  });
}

hipError_t hipDeviceGet(int *device, int ordinal) {
  return call(Entry::hipDeviceGet, [&](Runtime &hip, Lock &) {
    if (!device)
      return hipErrorInvalidValue;
    if (!device_at(hip, ordinal))
      return hipErrorInvalidDevice;
    *device = ordinal;
    return hipSuccess;
  });
}

hipError_t hipSetDeviceFlags(unsigned flags) {
  return call(Entry::hipSetDeviceFlags, [&](Runtime &hip, Lock &) {
    current_device(hip).flags = flags;
    return hipSuccess;
  });
}

hipError_t hipGetDeviceFlags(unsigned *flags) {
  return call(Entry::hipGetDeviceFlags, [&](Runtime &hip, Lock &) {
    if (!flags)
      return hipErrorInvalidValue;
    *flags = current_device(hip).flags;
    return hipSuccess;
  });
}

hipError_t hipDeviceSynchronize() {
  return call(Entry::hipDeviceSynchronize, [&](Runtime &hip, Lock &lock) {
    NEREID_HIP_CHECK(reject_while_capturing(hip, hipErrorStreamCaptureUnsupported));
    Device &device = current_device(hip);
    hip.executor.finish_all(hip, lock, device);
    return device.lost;
  });
}

hipError_t hipDeviceReset() {
  return call(Entry::hipDeviceReset, [&](Runtime &hip, Lock &lock) {
    reset(hip, lock, current_device(hip));
    return hipSuccess;
  });
}

hipError_t hipDevicePrimaryCtxReset(int device) {
  return call(Entry::hipDevicePrimaryCtxReset, [&](Runtime &hip, Lock &lock) {
    Device *found = device_at(hip, device);
    if (!found)
      return hipErrorInvalidDevice;
    reset(hip, lock, *found);
    return hipSuccess;
  });
}

hipError_t hipDeviceGetStreamPriorityRange(int *least, int *greatest) {
  return call(Entry::hipDeviceGetStreamPriorityRange, [&](Runtime &, Lock &) {
    if (least)
      *least = least_priority;
    if (greatest)
      *greatest = greatest_priority;
    return hipSuccess;
  });
}

} // namespace nereid::hip_sim
