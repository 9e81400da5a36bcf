#include "jit/device_fault.h"

#include <cstring>

#include <fmt/format.h>

namespace nereid::jit {
namespace {

/// The message of the device_assert on a line of the canonical form; empty when that line is another
/// operation.
std::string assertion_at(const CompiledKernel &kernel, unsigned wanted) {
  std::string message;
  ir::for_each_op(kernel.function(), [&](const ir::Op &op, unsigned line) {
    if (line == wanted && op.opcode == ir::Opcode::DeviceAssert)
      message = op.has("message") ? op.string("message") : "no message";
  });
  return message;
}

/// The pointer argument that an address is reached from, probably: the last one before it, as kernels add
/// what is not negative to pointers; a null pointer only where it is the address or there is no other. Empty
/// when all are behind it.
std::string argument_of(uint64_t address, const ir::Function &function, std::span<const std::byte> kernarg) {
  std::optional<size_t> found;
  uint64_t base = 0;
  size_t offset = 0;
  for (size_t i = 0; i < function.arguments.size(); ++i) {
    const ir::Type &type = function.type(function.arguments[i].value);
    const size_t bytes = type.pointer || ir::byte_size(type.element) == 8 ? 8 : 4;
    offset = (offset + bytes - 1) / bytes * bytes;
    uint64_t value = 0;
    std::memcpy(&value, kernarg.data() + offset, bytes);
    offset += bytes;
    if (type.pointer && value <= address && (!found || value > base)) {
      found = i;
      base = value;
    }
  }
  if (!found)
    return "";
  if (base == 0)
    return fmt::format("; argument {} is null", *found);
  return fmt::format("; argument {} points {} bytes before that address", *found, address - base);
}

} // namespace

Error describe_fault(const DeviceFault &fault, const CompiledKernel &kernel,
                     std::span<const std::byte> kernarg) {
  const unsigned line = kernel.line_at(fault.address);
  const SourceLine where = kernel.source_line(line);
  std::string place = fmt::format("program ({}, {}, {}), wave {}", fault.workgroup[0], fault.workgroup[1],
                                  fault.workgroup[2], fault.wave);
  if (fault.lane >= 0)
    place += fmt::format(", lane {}", fault.lane);
  std::string what =
      fmt::format("{}: {} ({}, '{}' at {:#x})", fault.kind,
                  fault.text + (fault.memory ? argument_of(*fault.memory, kernel.function(), kernarg) : ""),
                  place, fault.instruction, fault.address);
  if (fault.trap)
    if (std::string message = assertion_at(kernel, line); !message.empty())
      what = fmt::format("device_assert failed: {} ({})", message, place);
  return {fault.blame.owner, fmt::format("kernel '{}': {}", kernel.name(), what), fault.blame.remedy, where};
}

} // namespace nereid::jit
