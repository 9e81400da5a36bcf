// Memory that streams order, and its pools.
#include "hip_sim/allocate.h"
#include "hip_sim/capture.h"
#include "hip_sim/entry.h"

namespace nereid::hip_sim {
namespace {

hipError_t allocate_in_order(Runtime &hip, Stream &stream, Pool &pool, size_t bytes, void **pointer) {
  if (stream.capture)
    return hipErrorStreamCaptureUnsupported;
  return allocate(hip, *pool.device, bytes, 0, &pool, pointer);
}

hipError_t pool_into(Entry entry, hipMemPool_t *pool, int device, Pool *Device::*member) {
  return call(entry, [&](Runtime &hip, Lock &) {
    if (!pool)
      return hipErrorInvalidValue;
    const Device *found = device_at(hip, device);
    if (!found)
      return hipErrorInvalidDevice;
    *pool = found->*member;
    return hipSuccess;
  });
}

/// The attributes that are int; null for others.
int *reuse_attribute(Pool &pool, int attribute) {
  const int index = attribute - hipMemPoolReuseFollowEventDependencies;
  return index >= 0 && index < 3 ? &pool.reuse[index] : nullptr;
}

} // namespace

hipError_t hipMallocAsync(void **pointer, size_t bytes, hipStream_t stream) {
  return call_on_stream(Entry::hipMallocAsync, stream, [&](Runtime &hip, Lock &, Stream &on) {
    return allocate_in_order(hip, on, *on.device->pool, bytes, pointer);
  });
}

hipError_t hipMallocFromPoolAsync(void **pointer, size_t bytes, hipMemPool_t pool, hipStream_t stream) {
  return call_on_stream(Entry::hipMallocFromPoolAsync, stream, [&](Runtime &hip, Lock &, Stream &on) {
    const std::shared_ptr<Pool> found = hip.pools.find(pool);
    return found ? allocate_in_order(hip, on, *found, bytes, pointer) : hipErrorInvalidValue;
  });
}

hipError_t hipFreeAsync(void *pointer, hipStream_t stream) {
  return call_on_stream(Entry::hipFreeAsync, stream, [&](Runtime &hip, Lock &lock, Stream &on) {
    if (!pointer)
      return hipSuccess;
    const Allocation *allocation = hip.allocation_of(pointer);
    if (!allocation || allocation->address != reinterpret_cast<uint64_t>(pointer) ||
        allocation->type != hipMemoryTypeDevice)
      return hipErrorInvalidValue;
    if (on.capture)
      return hipErrorStreamCaptureUnsupported;
    return submit(hip, lock, on, FreeWork{pointer});
  });
}

hipError_t hipDeviceGetDefaultMemPool(hipMemPool_t *pool, int device) {
  return pool_into(Entry::hipDeviceGetDefaultMemPool, pool, device, &Device::default_pool);
}
hipError_t hipDeviceGetMemPool(hipMemPool_t *pool, int device) {
  return pool_into(Entry::hipDeviceGetMemPool, pool, device, &Device::pool);
}

hipError_t hipDeviceSetMemPool(int device, hipMemPool_t pool) {
  return call(Entry::hipDeviceSetMemPool, [&](Runtime &hip, Lock &) {
    Device *found = device_at(hip, device);
    if (!found)
      return hipErrorInvalidDevice;
    const std::shared_ptr<Pool> known = hip.pools.find(pool);
    if (!known || known->device != found)
      return hipErrorInvalidValue;
    found->pool = pool;
    return hipSuccess;
  });
}

hipError_t hipMemPoolCreate(hipMemPool_t *pool, const hipMemPoolProps *properties) {
  return call(Entry::hipMemPoolCreate, [&](Runtime &hip, Lock &) {
    if (!pool || !properties)
      return hipErrorInvalidValue;
    Device *device = device_at(hip, properties->location.id);
    constexpr int on_device = 1;
    if (!device || properties->location.type != on_device)
      return hipErrorInvalidValue;
    *pool = hip.pools.add(std::make_shared<Pool>(*device));
    return hipSuccess;
  });
}

hipError_t hipMemPoolDestroy(hipMemPool_t pool) {
  return call(Entry::hipMemPoolDestroy, [&](Runtime &hip, Lock &lock) {
    const std::shared_ptr<Pool> found = hip.pools.find(pool);
    if (!found || found.get() == found->device->default_pool)
      return hipErrorInvalidValue;
    if (found->device->pool == pool)
      found->device->pool = found->device->default_pool;
    hip.executor.finish_all(hip, lock, *found->device);
    for (auto &[address, allocation] : hip.allocations)
      if (allocation.pool == pool)
        allocation.pool = nullptr;
    hip.pools.remove(pool);
    return hipSuccess;
  });
}

hipError_t hipMemPoolSetAttribute(hipMemPool_t pool, int attribute, void *value) {
  return call(Entry::hipMemPoolSetAttribute, [&](Runtime &hip, Lock &) {
    const std::shared_ptr<Pool> found = hip.pools.find(pool);
    if (!found || !value)
      return hipErrorInvalidValue;
    if (int *reuse = reuse_attribute(*found, attribute)) {
      *reuse = *static_cast<int *>(value);
      return hipSuccess;
    }
    const uint64_t number = *static_cast<uint64_t *>(value);
    switch (attribute) {
    case hipMemPoolAttrReleaseThreshold:
      found->release_threshold = number;
      return hipSuccess;
    case hipMemPoolAttrReservedMemHigh:
    case hipMemPoolAttrUsedMemHigh:
      // It can only be taken back.
      if (number != 0)
        return hipErrorInvalidValue;
      found->high = found->used;
      return hipSuccess;
    default:
      return hipErrorInvalidValue;
    }
  });
}

hipError_t hipMemPoolGetAttribute(hipMemPool_t pool, int attribute, void *value) {
  return call(Entry::hipMemPoolGetAttribute, [&](Runtime &hip, Lock &) {
    const std::shared_ptr<Pool> found = hip.pools.find(pool);
    if (!found || !value)
      return hipErrorInvalidValue;
    if (const int *reuse = reuse_attribute(*found, attribute)) {
      *static_cast<int *>(value) = *reuse;
      return hipSuccess;
    }
    switch (attribute) {
    case hipMemPoolAttrReleaseThreshold:
      *static_cast<uint64_t *>(value) = found->release_threshold;
      return hipSuccess;
    case hipMemPoolAttrReservedMemCurrent:
    case hipMemPoolAttrUsedMemCurrent:
      *static_cast<uint64_t *>(value) = found->used;
      return hipSuccess;
    case hipMemPoolAttrReservedMemHigh:
    case hipMemPoolAttrUsedMemHigh:
      *static_cast<uint64_t *>(value) = found->high;
      return hipSuccess;
    default:
      return hipErrorInvalidValue;
    }
  });
}

hipError_t hipMemPoolSetAccess(hipMemPool_t pool, const hipMemAccessDesc *descriptions, size_t count) {
  return call(Entry::hipMemPoolSetAccess, [&](Runtime &hip, Lock &) {
    if (!hip.pools.find(pool) || (count && !descriptions))
      return hipErrorInvalidValue;
    constexpr int on_device = 1, read = 1, read_and_write = 3;
    for (size_t i = 0; i < count; ++i) {
      const auto &[location, flags] = descriptions[i];
      if (location.type != on_device || (flags != 0 && flags != read && flags != read_and_write))
        return hipErrorInvalidValue;
      if (!device_at(hip, location.id))
        return hipErrorInvalidDevice;
    }
    return hipSuccess;
  });
}

hipError_t hipMemPoolTrimTo(hipMemPool_t pool, size_t) {
  return call(Entry::hipMemPoolTrimTo,
              [&](Runtime &hip, Lock &) { return hip.pools.find(pool) ? hipSuccess : hipErrorInvalidValue; });
}

} // namespace nereid::hip_sim
