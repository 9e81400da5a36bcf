#pragma once

#include <cstdint>

namespace nereid::jit {

class DeviceInterface;

/// One argument of a launch: its bits as they go into the kernarg segment.
struct ArgumentValue {
  enum class Kind : uint8_t { Pointer, I32, I64, F32, U32, U64, F16, BF16, I1, F64 };
  Kind kind = Kind::Pointer;
  uint64_t bits = 0;
  const DeviceInterface *device = nullptr; ///< of a buffer: where it lives; null when not known
  uint64_t extent = 0;                     ///< of a buffer: its bytes; 0 when not known
  bool is_specialized = true;              ///< whether the kernel may be compiled for what its bits are

  unsigned bytes() const {
    constexpr uint8_t sizes[] = {8, 4, 8, 4, 4, 8, 2, 2, 1, 8}; // by kind
    return sizes[static_cast<unsigned>(kind)];
  }
};

} // namespace nereid::jit
