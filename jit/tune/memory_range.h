#pragma once

#include <cstddef>
#include <cstdint>

#include "jit/device/buffer.h"

namespace nereid {

/// A piece of device memory that launches read or write; nobody owns it. A Buffer converts to it and has to
/// outlive it.
struct MemoryRange {
  uint64_t address = 0;
  size_t bytes = 0;                             ///< 0: not known
  const jit::DeviceInterface *device = nullptr; ///< null: not known

  MemoryRange() = default;
  MemoryRange(uint64_t where, size_t size) : address(where), bytes(size) {}
  template <class T>
  MemoryRange(const Buffer<T> &buffer)
      : address(buffer.address()), bytes(buffer.bytes()), device(buffer.device()) {}
  template <class T> MemoryRange(const Buffer<T> &&) = delete;
  template <class T> MemoryRange(const DevicePointer<T> &pointer) : address(pointer.address) {}

  bool overlaps(const MemoryRange &other) const {
    return address < other.address + other.bytes && other.address < address + bytes;
  }
  bool contains(uint64_t where) const { return address <= where && where < address + bytes; }
};

} // namespace nereid
