// Host memory that devices see under the same address: pinned, managed, registered.
#include <sys/mman.h>

#include "hip_sim/allocate.h"
#include "hip_sim/capture.h"
#include "hip_sim/entry.h"
#include "hip_sim/thread.h"

namespace nereid::hip_sim {
namespace {

hipError_t allocate_host(Runtime &hip, size_t bytes, hipMemoryType type, unsigned flags, void **pointer) {
  if (!pointer)
    return hipErrorInvalidValue;
  *pointer = nullptr;
  NEREID_HIP_CHECK(reject_unsafe(hip));
  NEREID_HIP_CHECK(current_device(hip).lost);
  if (bytes == 0)
    return hipSuccess;
  void *mapped =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED)
    return hipErrorOutOfMemory;
  if (!hip.memory.adopt(static_cast<std::byte *>(mapped), bytes)) {
    ::munmap(mapped, bytes);
    return hipErrorOutOfMemory;
  }
  const auto address = reinterpret_cast<uint64_t>(mapped);
  hip.allocations[address] = {address, bytes, type, this_thread().device, flags, false, nullptr};
  *pointer = mapped;
  return hipSuccess;
}

hipError_t host_malloc(Entry entry, void **pointer, size_t bytes, unsigned flags) {
  return call(entry, [&](Runtime &hip, Lock &) {
    return allocate_host(hip, bytes, hipMemoryTypeHost, flags, pointer);
  });
}

hipError_t host_free(Entry entry, void *pointer) {
  return call(entry, [&](Runtime &hip, Lock &lock) {
    NEREID_HIP_CHECK(reject_unsafe(hip));
    return free_allocation(hip, lock, pointer, false);
  });
}

} // namespace

hipError_t hipHostMalloc(void **pointer, size_t bytes, unsigned flags) {
  return host_malloc(Entry::hipHostMalloc, pointer, bytes, flags);
}
hipError_t hipHostAlloc(void **pointer, size_t bytes, unsigned flags) {
  return host_malloc(Entry::hipHostAlloc, pointer, bytes, flags);
}
hipError_t hipExtHostAlloc(void **pointer, size_t bytes, unsigned flags) {
  return host_malloc(Entry::hipExtHostAlloc, pointer, bytes, flags);
}
hipError_t hipMallocHost(void **pointer, size_t bytes) {
  return host_malloc(Entry::hipMallocHost, pointer, bytes, 0);
}
hipError_t hipHostFree(void *pointer) { return host_free(Entry::hipHostFree, pointer); }
hipError_t hipFreeHost(void *pointer) { return host_free(Entry::hipFreeHost, pointer); }

hipError_t hipMallocManaged(void **pointer, size_t bytes, unsigned flags) {
  return call(Entry::hipMallocManaged, [&](Runtime &hip, Lock &) {
    return allocate_host(hip, bytes, hipMemoryTypeManaged, flags, pointer);
  });
}

hipError_t hipHostRegister(void *pointer, size_t bytes, unsigned flags) {
  return call(Entry::hipHostRegister, [&](Runtime &hip, Lock &) {
    NEREID_HIP_CHECK(reject_unsafe(hip));
    if (!pointer || bytes == 0)
      return hipErrorInvalidValue;
    if (!hip.memory.adopt(static_cast<std::byte *>(pointer), bytes))
      return hipErrorHostMemoryAlreadyRegistered;
    const auto address = reinterpret_cast<uint64_t>(pointer);
    hip.allocations[address] = {address, bytes,  hipMemoryTypeHost, this_thread().device, flags,
                                true,    nullptr};
    return hipSuccess;
  });
}

hipError_t hipHostUnregister(void *pointer) {
  return call(Entry::hipHostUnregister, [&](Runtime &hip, Lock &lock) {
    NEREID_HIP_CHECK(reject_unsafe(hip));
    const Allocation *allocation = hip.allocation_of(pointer);
    if (!allocation || !allocation->registered)
      return hipErrorHostMemoryNotRegistered;
    const uint64_t address = allocation->address;
    for (const auto &any : hip.devices)
      hip.executor.finish_all(hip, lock, *any);
    hip.release(address);
    return hipSuccess;
  });
}

hipError_t hipHostGetDevicePointer(void **device, void *host, unsigned) {
  return call(Entry::hipHostGetDevicePointer, [&](Runtime &hip, Lock &) {
    if (!device)
      return hipErrorInvalidValue;
    const Allocation *allocation = hip.allocation_of(host);
    const bool known = allocation && allocation->type != hipMemoryTypeDevice;
    *device = known ? host : nullptr;
    return known ? hipSuccess : hipErrorInvalidValue;
  });
}

hipError_t hipHostGetFlags(unsigned *flags, void *pointer) {
  return call(Entry::hipHostGetFlags, [&](Runtime &hip, Lock &) {
    const Allocation *allocation = hip.allocation_of(pointer);
    if (!flags || !allocation || allocation->type == hipMemoryTypeDevice)
      return hipErrorInvalidValue;
    *flags = allocation->flags;
    return hipSuccess;
  });
}

} // namespace nereid::hip_sim
