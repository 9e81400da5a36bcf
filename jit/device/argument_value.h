#pragma once

#include <cstdint>

namespace nereid::jit {

class DeviceInterface;

/// One argument of a launch: its bits as they go into the kernarg segment.
struct ArgumentValue {
  enum class Kind : uint8_t { Pointer, I32, I64, F32 };
  Kind kind = Kind::Pointer;
  uint64_t bits = 0;
  const DeviceInterface *device = nullptr; ///< of a buffer: where it lives; null when not known
  bool is_specialized = true;              ///< whether the kernel may be compiled for what its bits are

  unsigned bytes() const { return kind == Kind::Pointer || kind == Kind::I64 ? 8 : 4; }
};

} // namespace nereid::jit
