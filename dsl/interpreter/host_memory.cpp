// The address ranges that an interpreted kernel may use.
#include "dsl/interpreter/host_memory.h"

#include <fmt/format.h>

namespace nereid {

Status HostMemory::add(HostAllocation allocation) {
  if (allocation.size == 0 || allocation.data == nullptr ||
      allocation.address + allocation.size < allocation.address)
    return user_error(fmt::format("host memory at {:#x} of {} bytes is empty or wraps around",
                                  allocation.address, allocation.size),
                      "Register memory of at least one byte with its data");
  const auto next = allocations_.lower_bound(allocation.address);
  const bool overlaps_next =
      next != allocations_.end() && next->second.address - allocation.address < allocation.size;
  if (overlaps_next || find(allocation.address) != nullptr)
    return user_error(fmt::format("host memory at {:#x} of {} bytes overlaps another allocation",
                                  allocation.address, allocation.size),
                      "Register each range of memory once");
  allocations_.emplace(allocation.address, std::move(allocation));
  return {};
}

Status HostMemory::add(void *data, uint64_t size, std::string name) {
  return add({reinterpret_cast<uint64_t>(data), size, static_cast<std::byte *>(data), std::move(name)});
}

const HostAllocation *HostMemory::find(uint64_t address) const {
  auto next = allocations_.upper_bound(address);
  if (next == allocations_.begin())
    return nullptr;
  const HostAllocation &candidate = std::prev(next)->second;
  return candidate.holds(address, 1) ? &candidate : nullptr;
}

const HostAllocation *HostMemory::nearest(uint64_t address) const {
  const auto next = allocations_.upper_bound(address);
  const HostAllocation *above = next == allocations_.end() ? nullptr : &next->second;
  const HostAllocation *below = next == allocations_.begin() ? nullptr : &std::prev(next)->second;
  if (above == nullptr || below == nullptr)
    return above != nullptr ? above : below;
  const uint64_t end = below->address + below->size;
  const uint64_t past = address < end ? 0 : address - end;
  return past <= above->address - address ? below : above;
}

} // namespace nereid
