#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/error.h"
#include "jit/compile/compiled_kernel.h"

namespace nereid::jit {

struct FaultBlame {
  Owner owner = Owner::Device;
  const char *remedy = "";
};

/// What a device says of a kernel that it stopped.
struct DeviceFault {
  std::string kind; ///< "out_of_bounds", ...
  FaultBlame blame;
  bool trap = false; ///< the kernel stopped itself: device_assert
  std::string text;
  std::string instruction;
  uint64_t address = 0;           ///< of the instruction, in the code object
  std::optional<uint64_t> memory; ///< the address that cannot be accessed
  std::array<uint32_t, 3> workgroup{};
  unsigned wave = 0;
  int lane = -1; ///< -1: no single lane
};

/// The fault as an error at the kernel's source line; of a device_assert with its message, of an access
/// that cannot be made with the argument that points there. kernarg: the launch's arguments, in order,
/// each at a multiple of its size.
Error describe_fault(const DeviceFault &fault, const CompiledKernel &kernel,
                     std::span<const std::byte> kernarg);

/// The same of a kernel of which only the code object is known; `where` is its line by the code's line table.
Error describe_fault(const DeviceFault &fault, const std::string &kernel, SourceLine where);

} // namespace nereid::jit
