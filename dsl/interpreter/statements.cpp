// assume, device_assert and device_print.
#include <fmt/format.h>

#include "dsl/interpreter/operations.h"
#include "dsl/interpreter/poison.h"
#include "dsl/print_text.h"

namespace nereid::interpreter {

using ir::Opcode;

static Status print(Frame &frame, const ir::Op &op) {
  std::vector<detail::PrintedValue> values;
  for (size_t i = 0; i < op.operands.size(); ++i) {
    NEREID_CHECK(observe(frame, op, i, "reaches a print", Use::Value));
    const ir::Type &type = frame.in_type(op, i);
    values.push_back(
        {type, [&type, &tensor = frame.in(op, i)](size_t e) { return bits_at(type, tensor, e); }});
  }
  frame.launch.print(detail::print_line(frame.program, op.string("message"), values));
  return {};
}

Status run_statement(Frame &frame, const ir::Op &op) {
  if (op.opcode == Opcode::DevicePrint)
    return print(frame, op);
  const bool is_assume = op.opcode == Opcode::Assume;
  NEREID_CHECK(observe(frame, op, 0, is_assume ? "reaches an assume" : "reaches an assert", Use::Value));
  const auto *holds = frame.in(op, 0).as<uint8_t>();
  for (size_t i = 0; i < frame.count(op); ++i) {
    if (holds[i] != 0)
      continue;
    if (is_assume)
      return frame.error(op, "the assumption does not hold",
                         "Compiled code may do anything then: correct it");
    const std::string element = Frame::element(frame.in_type(op, 0), i);
    return frame.error(
        op,
        fmt::format("assertion failed: {}{}{}", op.string("message"), element.empty() ? "" : ", ", element),
        "The kernel's author asserts this");
  }
  return {};
}

} // namespace nereid::interpreter
