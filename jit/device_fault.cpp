#include "jit/device_fault.h"

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

} // namespace

Error describe_fault(const DeviceFault &fault, const CompiledKernel &kernel) {
  const unsigned line = kernel.line_at(fault.address);
  const SourceLine where = kernel.source_line(line);
  std::string place = fmt::format("program ({}, {}, {}), wave {}", fault.workgroup[0], fault.workgroup[1],
                                  fault.workgroup[2], fault.wave);
  if (fault.lane >= 0)
    place += fmt::format(", lane {}", fault.lane);
  if (fault.trap)
    if (std::string message = assertion_at(kernel, line); !message.empty())
      return user_error(
          fmt::format("kernel '{}': device_assert failed: {} ({})", kernel.name(), message, place),
          "NEREID_INTERPRET=1 runs the kernel on the host and names the element", where);
  Error error{fault.callers_fault ? Owner::User : Owner::Device,
              fmt::format("kernel '{}': {}: {} ({}, '{}' at {:#x})", kernel.name(), fault.kind, fault.text,
                          place, fault.instruction, fault.address),
              {},
              where};
  if (fault.callers_fault)
    error.remedy =
        "Check the sizes of the buffers and the kernel's masks; NEREID_INTERPRET=1 names the element";
  return error;
}

} // namespace nereid::jit
