// Device memory and what is known of a pointer.
#include "hip_sim/allocate.h"
#include "hip_sim/capture.h"
#include "hip_sim/entry.h"

namespace nereid::hip_sim {

hipError_t allocate(Runtime &hip, Device &device, size_t bytes, unsigned flags, Pool *pool, void **pointer) {
  if (!pointer)
    return hipErrorInvalidValue;
  *pointer = nullptr;
  NEREID_HIP_CHECK(device.lost);
  if (bytes == 0)
    return hipSuccess;
  if (bytes > hip.options.memory - device.used)
    return hipErrorOutOfMemory;
  const Result<uint64_t> address = hip.memory.allocate(bytes);
  if (!address)
    return hipErrorOutOfMemory;
  hip.allocations[*address] = {*address, bytes, hipMemoryTypeDevice, device.index, flags, false, pool};
  device.used += bytes;
  if (pool) {
    pool->used += bytes;
    pool->high = std::max(pool->high, pool->used);
  }
  // NOLINTNEXTLINE(performance-no-int-to-ptr): HIP's device addresses are pointers
  *pointer = reinterpret_cast<void *>(*address);
  return hipSuccess;
}

hipError_t free_allocation(Runtime &hip, Lock &lock, void *pointer, bool of_device) {
  if (!pointer)
    return hipSuccess;
  const Allocation *allocation = hip.allocation_of(pointer);
  if (!allocation || allocation->address != reinterpret_cast<uint64_t>(pointer) || allocation->registered ||
      (allocation->type == hipMemoryTypeHost) == of_device)
    return hipErrorInvalidValue;
  Device &device = *hip.devices[static_cast<size_t>(allocation->device)];
  // Memory is freed when nothing uses it any more.
  for (const auto &any : hip.devices)
    hip.executor.finish_all(hip, lock, *any);
  hip.release(reinterpret_cast<uint64_t>(pointer));
  return device.lost;
}

hipError_t hipMalloc(void **pointer, size_t bytes) {
  return call(Entry::hipMalloc, [&](Runtime &hip, Lock &) {
    NEREID_HIP_CHECK(reject_unsafe(hip));
    return allocate(hip, current_device(hip), bytes, 0, nullptr, pointer);
  });
}

hipError_t hipExtMallocWithFlags(void **pointer, size_t bytes, unsigned flags) {
  return call(Entry::hipExtMallocWithFlags, [&](Runtime &hip, Lock &) {
    NEREID_HIP_CHECK(reject_unsafe(hip));
    return allocate(hip, current_device(hip), bytes, flags, nullptr, pointer);
  });
}

hipError_t hipFree(void *pointer) {
  return call(Entry::hipFree, [&](Runtime &hip, Lock &lock) {
    NEREID_HIP_CHECK(reject_unsafe(hip));
    return free_allocation(hip, lock, pointer, true);
  });
}

hipError_t hipMemGetInfo(size_t *free, size_t *total) {
  return call(Entry::hipMemGetInfo, [&](Runtime &hip, Lock &) {
    if (!free || !total)
      return hipErrorInvalidValue;
    *total = hip.options.memory;
    *free = hip.options.memory - current_device(hip).used;
    return hipSuccess;
  });
}

hipError_t hipMemGetAddressRange(void **base, size_t *size, void *pointer) {
  return call(Entry::hipMemGetAddressRange, [&](Runtime &hip, Lock &) {
    const Allocation *allocation = hip.allocation_of(pointer);
    if (!base || !size)
      return hipErrorInvalidValue;
    if (!allocation)
      return hipErrorNotFound;
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    *base = reinterpret_cast<void *>(allocation->address);
    *size = allocation->size;
    return hipSuccess;
  });
}

namespace {

hipPointerAttribute_t attributes_of(const Allocation *allocation, const void *pointer) {
  auto *same = const_cast<void *>(pointer);
  if (!allocation)
    return {hipMemoryTypeUnregistered, -2, nullptr, nullptr, 0, 0}; // hipInvalidDeviceId
  const bool on_host = allocation->type != hipMemoryTypeDevice;
  return {allocation->type,
          allocation->device,
          same,
          on_host ? same : nullptr,
          allocation->type == hipMemoryTypeManaged,
          allocation->flags};
}

/// The values of hipPointer_attribute that are answered.
enum PointerAttribute {
  MemoryType = 2,
  DevicePointer = 3,
  HostPointer = 4,
  IsManaged = 8,
  DeviceOrdinal = 9,
  RangeStart = 11,
  RangeSize = 12,
  Mapped = 13,
};

} // namespace

hipError_t hipPointerGetAttributes(hipPointerAttribute_t *attributes, const void *pointer) {
  return call(Entry::hipPointerGetAttributes, [&](Runtime &hip, Lock &) {
    if (!attributes || !pointer)
      return hipErrorInvalidValue;
    *attributes = attributes_of(hip.allocation_of(pointer), pointer);
    return hipSuccess;
  });
}

hipError_t hipPointerGetAttribute(void *value, int attribute, void *pointer) {
  return call(Entry::hipPointerGetAttribute, [&](Runtime &hip, Lock &) {
    const Allocation *allocation = hip.allocation_of(pointer);
    if (!value || !allocation)
      return hipErrorInvalidValue;
    const hipPointerAttribute_t known = attributes_of(allocation, pointer);
    switch (attribute) {
    case MemoryType:
      *static_cast<int *>(value) = known.type;
      return hipSuccess;
    case DevicePointer:
      *static_cast<void **>(value) = known.devicePointer;
      return hipSuccess;
    case HostPointer:
      *static_cast<void **>(value) = known.hostPointer;
      return known.hostPointer ? hipSuccess : hipErrorInvalidValue;
    case IsManaged:
      *static_cast<bool *>(value) = known.isManaged != 0;
      return hipSuccess;
    case DeviceOrdinal:
      *static_cast<int *>(value) = known.device;
      return hipSuccess;
    case RangeStart:
      *static_cast<uint64_t *>(value) = allocation->address;
      return hipSuccess;
    case RangeSize:
      *static_cast<size_t *>(value) = allocation->size;
      return hipSuccess;
    case Mapped:
      *static_cast<bool *>(value) = true;
      return hipSuccess;
    default:
      return hipErrorNotSupported;
    }
  });
}

} // namespace nereid::hip_sim
