// The one runtime of the process, its devices and its books of memory.
#include "hip_sim/runtime.h"

#include <sys/mman.h>

#include "hip_sim/capture.h"
#include "hip_sim/event.h"
#include "hip_sim/module.h"
#include "hip_sim/thread.h"

namespace nereid::hip_sim {
namespace {

/// Of the simulator's memory, which all devices share; each device has its own limit.
constexpr uint64_t capacity = uint64_t{1} << 60;

/// Keeps the host out of the devices' addresses. It may be refused: by a bound on the address space, or by a
/// sanitizer, which has them itself.
void reserve_device_addresses() {
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  void *wanted = reinterpret_cast<void *>(device_addresses.first);
  const size_t size = device_addresses.end - device_addresses.first;
  void *got = ::mmap(wanted, size, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (got != MAP_FAILED)
    ::madvise(got, size, MADV_DONTDUMP);
}

} // namespace

Runtime::Runtime(Options given)
    : options(given), launches(options.launches), memory(capacity, device_addresses) {
  reserve_device_addresses();
  for (int index = 0; index < options.devices; ++index) {
    auto device = std::make_unique<Device>();
    device->index = index;
    device->null_stream = std::make_shared<Stream>(*device, Stream::Kind::Null);
    device->default_pool = device->pool = pools.add(std::make_shared<Pool>(*device));
    devices.push_back(std::move(device));
  }
}

Allocation *Runtime::allocation_of(const void *pointer) {
  const auto address = reinterpret_cast<uint64_t>(pointer);
  auto after = allocations.upper_bound(address);
  if (after == allocations.begin())
    return nullptr;
  Allocation &allocation = std::prev(after)->second;
  // An empty allocation holds its own address.
  return address - allocation.address < std::max<size_t>(allocation.size, 1) ? &allocation : nullptr;
}

void Runtime::release(uint64_t address) {
  const auto found = allocations.find(address);
  if (found == allocations.end())
    return;
  const Allocation &allocation = found->second;
  (void)memory.free(address);
  if (allocation.pool)
    allocation.pool->used -= allocation.size;
  if (allocation.type == hipMemoryTypeDevice)
    devices[static_cast<size_t>(allocation.device)]->used -= allocation.size;
  else if (!allocation.registered)
    // NOLINTNEXTLINE(performance-no-int-to-ptr): host memory is booked by its address
    ::munmap(reinterpret_cast<void *>(address), std::max<size_t>(allocation.size, 1));
  allocations.erase(found);
}

Result<Runtime *> &runtime() {
  static Result<Runtime *> one = []() -> Result<Runtime *> {
    NEREID_TRY(Options options, Options::from_environment());
    return new Runtime(options); // never destroyed
  }();
  return one;
}

ThreadState &this_thread() {
  static thread_local ThreadState state;
  return state;
}

Device *device_at(Runtime &runtime, int index) {
  return index >= 0 && static_cast<size_t>(index) < runtime.devices.size()
             ? runtime.devices[static_cast<size_t>(index)].get()
             : nullptr;
}

Device &current_device(Runtime &runtime) {
  return *runtime.devices[static_cast<size_t>(this_thread().device)];
}

} // namespace nereid::hip_sim
