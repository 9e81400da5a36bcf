#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"

namespace nereid {

/// What stands behind an allocation. The bytes stay for as long as somebody holds it, also when the
/// allocation is freed meanwhile.
class HostBacking {
public:
  virtual ~HostBacking() = default;
  /// A bit for each bit of the allocation, set where nothing has written it; null while all is written.
  virtual std::byte *undefined_bits() = 0;
  /// The same, never null unless the host has no memory: some are to be set.
  virtual std::byte *undefined_bits_to_set() = 0;
};

/// A range of addresses that a kernel may use, and where the host keeps its bytes.
struct HostAllocation {
  uint64_t address = 0; ///< as the kernel sees it
  uint64_t size = 0;    ///< bytes
  std::byte *data = nullptr;
  std::string name = {};                     ///< for messages; may be empty
  std::shared_ptr<HostBacking> backing = {}; ///< null: the caller keeps the bytes, and all are written

  bool holds(uint64_t at, uint64_t bytes) const {
    return at >= address && bytes <= size && at - address <= size - bytes;
  }
};

/// The memory of a kernel that is interpreted: every access lies in one allocation, or is an error. Looking
/// up from several threads is safe.
class HostMemory {
public:
  /// An empty allocation, one that overlaps another or that has no bytes on the host is an error (user).
  Status add(HostAllocation allocation);
  /// Host memory that the kernel sees at its own address.
  Status add(void *data, uint64_t size, std::string name = {});
  void remove(uint64_t address) { allocations_.erase(address); }

  /// The allocation that holds the byte, or null.
  const HostAllocation *find(uint64_t address) const;
  /// The allocation whose bounds are closest, or null when there is none.
  const HostAllocation *nearest(uint64_t address) const;

private:
  std::map<uint64_t, HostAllocation> allocations_; ///< by address
};

} // namespace nereid
