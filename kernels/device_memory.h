#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"
#include "jit/device/buffer.h"

namespace nereid::kernels {

/// A piece of device memory; nobody owns it. A Buffer converts to it, and has to outlive it.
struct DeviceMemory {
  uint64_t address = 0;
  size_t bytes = 0;

  DeviceMemory() = default;
  DeviceMemory(uint64_t where, size_t size) : address(where), bytes(size) {}
  template <class T>
  DeviceMemory(const Buffer<T> &buffer) : address(buffer.address()), bytes(buffer.bytes()) {}
  template <class T> DeviceMemory(const Buffer<T> &&) = delete;
};

/// What an operation needs of an operand.
struct NeededMemory {
  std::string_view name;
  DeviceMemory memory;
  int64_t bytes;
  std::string_view layout; ///< for the error
};

/// Words for the orders of shuffled operands, for errors.
inline constexpr std::string_view shuffled_b_layout = "e2m1 [n, k/2] in (16,16)-shuffled order";
inline constexpr std::string_view shuffled_scales_layout =
    "e8m0 in shuffled order, rows padded to a multiple of 256 and K/32 to one of 8";

/// Error (User) naming the first operand that is null or too short.
Status check_memory(std::string_view operation, std::span<const NeededMemory> operands);

} // namespace nereid::kernels
