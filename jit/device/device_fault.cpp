// A fault of a device in the words of the kernel: its line, its program, its argument.
#include "jit/device/device_fault.h"

#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "dsl/interpreter/argument_text.h"

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

/// The bits of each argument of a launch.
std::vector<uint64_t> arguments_of(const ir::Function &function, std::span<const std::byte> kernarg) {
  std::vector<uint64_t> arguments;
  size_t offset = 0;
  for (const ir::Argument &argument : function.arguments) {
    const ir::Type &type = function.type(argument.value);
    const size_t bytes = type.pointer || ir::byte_size(type.element) == 8 ? 8 : 4;
    offset = (offset + bytes - 1) / bytes * bytes;
    uint64_t value = 0;
    std::memcpy(&value, kernarg.data() + offset, bytes);
    arguments.push_back(value);
    offset += bytes;
  }
  return arguments;
}

std::string program_of(const DeviceFault &fault) {
  std::string program = fmt::format("program ({}, {}, {}), wave {}", fault.workgroup[0], fault.workgroup[1],
                                    fault.workgroup[2], fault.wave);
  return fault.lane >= 0 ? program + fmt::format(", lane {}", fault.lane) : program;
}

std::string what_happened(const DeviceFault &fault, const std::string &text) {
  const std::string memory = fault.memory ? fmt::format(", memory at {:#x}", *fault.memory) : "";
  return fmt::format("{}: {} ({}, '{}' at {:#x}{})", fault.kind, text, program_of(fault), fault.instruction,
                     fault.address, memory);
}

} // namespace

Error describe_fault(const DeviceFault &fault, const CompiledKernel &kernel,
                     std::span<const std::byte> kernarg) {
  const unsigned line = kernel.line_at(fault.address);
  const SourceLine where = kernel.source_line(line);
  std::string text = fault.text;
  if (fault.memory)
    text += argument_near(*fault.memory, kernel.function(), arguments_of(kernel.function(), kernarg));
  std::string what = what_happened(fault, text);
  if (fault.trap)
    if (std::string message = assertion_at(kernel, line); !message.empty())
      what = fmt::format("device_assert failed: {} ({})", message, program_of(fault));
  return {fault.blame.owner, fmt::format("kernel '{}': {}", kernel.name(), what), fault.blame.remedy, where};
}

Error describe_fault(const DeviceFault &fault, const std::string &kernel, SourceLine where) {
  return {fault.blame.owner, fmt::format("kernel '{}': {}", kernel, what_happened(fault, fault.text)),
          fault.blame.remedy, std::move(where)};
}

} // namespace nereid::jit
