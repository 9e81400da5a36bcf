// Whether operands in device memory are there and long enough.
#include "kernels/device_memory.h"

#include <fmt/format.h>

namespace nereid::kernels {

Status check_memory(std::string_view operation, std::span<const NeededMemory> operands) {
  for (const NeededMemory &operand : operands) {
    if (operand.memory.address == 0 && operand.bytes > 0)
      return user_error(fmt::format("{}: operand {} is null", operation, operand.name));
    if (operand.memory.bytes < static_cast<size_t>(operand.bytes))
      return user_error(fmt::format("{}: operand {} has {} bytes where {} are needed", operation,
                                    operand.name, operand.memory.bytes, operand.bytes),
                        fmt::format("{} is {}", operand.name, operand.layout));
  }
  return {};
}

} // namespace nereid::kernels
