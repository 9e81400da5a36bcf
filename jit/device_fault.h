#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/error.h"
#include "jit/compiled_kernel.h"

namespace nereid::jit {

/// What a device says of a kernel that it stopped.
struct DeviceFault {
  std::string kind;           ///< "out_of_bounds", ...
  bool callers_fault = false; ///< an address that the kernel or its arguments made
  bool trap = false;          ///< the kernel stopped itself: device_assert
  std::string text;
  std::string instruction;
  uint64_t address = 0; ///< of the instruction, in the code object
  std::array<uint32_t, 3> workgroup{};
  unsigned wave = 0;
  int lane = -1; ///< -1: no single lane
};

/// The fault as an error at the kernel's source line; of a device_assert with its message. Owner: User for a
/// caller's fault or a failed assertion, else Device.
Error describe_fault(const DeviceFault &fault, const CompiledKernel &kernel);

} // namespace nereid::jit
