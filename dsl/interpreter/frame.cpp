// Errors of a running program, with its location.
#include "dsl/interpreter/frame.h"

#include <fmt/format.h>

#include "dsl/ir/printer.h"

namespace nereid::interpreter {

Error Frame::error(const ir::Op &op, std::string_view message, std::string remedy) const {
  const SourceLine &location = launch.function.location(op);
  // Text IR has no locations: the operation itself tells where.
  const std::string where =
      location.known() ? std::string(ir::facts(op.opcode).name) : ir::print(launch.function, op);
  return user_error(fmt::format("kernel {}, program ({}, {}, {}), {}: {}", launch.function.name, program[0],
                                program[1], program[2], where, message),
                    std::move(remedy), location);
}

std::string Frame::element(const ir::Type &type, size_t index) {
  if (type.rank() == 0)
    return {};
  ir::Shape position(type.rank());
  for (size_t d = type.rank(); d-- > 0;) {
    position[d] = static_cast<int64_t>(index % static_cast<size_t>(type.shape[d]));
    index /= static_cast<size_t>(type.shape[d]);
  }
  return "element " + ir::text(position);
}

} // namespace nereid::interpreter
