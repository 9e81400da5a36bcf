// Contexts: every device has one, its primary one; a thread has a stack of them.
#include "hip_sim/capture.h"
#include "hip_sim/entry.h"
#include "hip_sim/thread.h"

namespace nereid::hip_sim {
namespace {

hipError_t context_into(Entry entry, hipCtx_t *context, int device, bool push) {
  return call(entry, [&](Runtime &hip, Lock &) {
    Device *found = device_at(hip, device);
    if (!found)
      return hipErrorInvalidDevice;
    if (!context)
      return hipErrorInvalidValue;
    *context = found;
    if (push) {
      this_thread().contexts.push_back(&current_device(hip));
      this_thread().device = device;
    }
    return hipSuccess;
  });
}

bool is_context(Runtime &hip, hipCtx_t context) {
  for (const auto &device : hip.devices)
    if (device.get() == context)
      return true;
  return false;
}

/// The entry points that only want to know that there is such a device.
hipError_t accept(Entry entry, int device) {
  return call(entry, [&](Runtime &hip, Lock &) {
    return device_at(hip, device) ? hipSuccess : hipErrorInvalidDevice;
  });
}

} // namespace

hipError_t hipCtxCreate(hipCtx_t *context, unsigned, int device) {
  return context_into(Entry::hipCtxCreate, context, device, true);
}
hipError_t hipDevicePrimaryCtxRetain(hipCtx_t *context, int device) {
  return context_into(Entry::hipDevicePrimaryCtxRetain, context, device, false);
}
hipError_t hipCtxDestroy(hipCtx_t context) {
  return call(Entry::hipCtxDestroy, [&](Runtime &hip, Lock &) {
    return is_context(hip, context) ? hipSuccess : hipErrorInvalidValue;
  });
}

hipError_t hipCtxPushCurrent(hipCtx_t context) {
  return call(Entry::hipCtxPushCurrent, [&](Runtime &hip, Lock &) {
    if (!is_context(hip, context))
      return hipErrorInvalidContext;
    this_thread().contexts.push_back(&current_device(hip));
    this_thread().device = context->index;
    return hipSuccess;
  });
}

hipError_t hipCtxPopCurrent(hipCtx_t *context) {
  return call(Entry::hipCtxPopCurrent, [&](Runtime &hip, Lock &) {
    std::vector<Device *> &stack = this_thread().contexts;
    if (stack.empty())
      return hipErrorInvalidContext;
    if (context)
      *context = &current_device(hip);
    this_thread().device = stack.back()->index;
    stack.pop_back();
    return hipSuccess;
  });
}

hipError_t hipCtxSetCurrent(hipCtx_t context) {
  return call(Entry::hipCtxSetCurrent, [&](Runtime &hip, Lock &) {
    if (context && !is_context(hip, context))
      return hipErrorInvalidContext;
    if (context)
      this_thread().device = context->index;
    return hipSuccess;
  });
}

hipError_t hipCtxGetCurrent(hipCtx_t *context) {
  return call(Entry::hipCtxGetCurrent, [&](Runtime &hip, Lock &) {
    if (!context)
      return hipErrorInvalidValue;
    *context = &current_device(hip);
    return hipSuccess;
  });
}

hipError_t hipCtxGetDevice(int *device) {
  return call(Entry::hipCtxGetDevice, [&](Runtime &, Lock &) {
    if (!device)
      return hipErrorInvalidValue;
    *device = this_thread().device;
    return hipSuccess;
  });
}

hipError_t hipCtxSynchronize() {
  return call(Entry::hipCtxSynchronize, [&](Runtime &hip, Lock &lock) {
    NEREID_HIP_CHECK(reject_while_capturing(hip, hipErrorStreamCaptureUnsupported));
    Device &device = current_device(hip);
    hip.executor.finish_all(hip, lock, device);
    return device.lost;
  });
}

hipError_t hipDevicePrimaryCtxRelease(int device) {
  return accept(Entry::hipDevicePrimaryCtxRelease, device);
}
hipError_t hipDevicePrimaryCtxSetFlags(int device, unsigned flags) {
  return call(Entry::hipDevicePrimaryCtxSetFlags, [&](Runtime &hip, Lock &) {
    Device *found = device_at(hip, device);
    if (!found)
      return hipErrorInvalidDevice;
    found->flags = flags;
    return hipSuccess;
  });
}
hipError_t hipDevicePrimaryCtxGetState(int device, unsigned *flags, int *active) {
  return call(Entry::hipDevicePrimaryCtxGetState, [&](Runtime &hip, Lock &) {
    const Device *found = device_at(hip, device);
    if (!found)
      return hipErrorInvalidDevice;
    if (flags)
      *flags = found->flags;
    if (active)
      *active = 1;
    return hipSuccess;
  });
}

} // namespace nereid::hip_sim
