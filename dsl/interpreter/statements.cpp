// assume, device_assert and device_print.
#include <fmt/format.h>

#include "dsl/interpreter/operations.h"
#include "dsl/interpreter/poison.h"

namespace nereid::interpreter {

using ir::Opcode;

static std::string element_text(const ir::Type &type, const Tensor &tensor, size_t i) {
  if (type.pointer)
    return fmt::format("{:#x}", tensor.as<uint64_t>()[i]);
  if (type.element == ir::Element::I1)
    return tensor.as<uint8_t>()[i] != 0 ? "true" : "false";
  return with_storage(type, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (sizeof(T) == 1) // a number, not a character
      return fmt::format("{}", static_cast<int>(tensor.as<T>()[i]));
    else
      return fmt::format("{}", tensor.as<T>()[i]);
  });
}

/// Rows of the last dimension in brackets.
static std::string tile_text(const ir::Type &type, const Tensor &tensor) {
  std::string text;
  const auto count = static_cast<size_t>(type.count());
  for (size_t i = 0; i < count; ++i) {
    size_t opening = 0, closing = 0, span = 1;
    for (size_t d = type.rank(); d-- > 0;) {
      span *= static_cast<size_t>(type.shape[d]);
      opening += i % span == 0;
      closing += (i + 1) % span == 0;
    }
    text += i == 0 ? "" : opening != 0 ? ",\n" : ", ";
    text.append(opening, '[');
    text += element_text(type, tensor, i);
    text.append(closing, ']');
  }
  return text;
}

static Status print(Frame &frame, const ir::Op &op) {
  std::string line = fmt::format("({}, {}, {}) {}", frame.program[0], frame.program[1], frame.program[2],
                                 op.string("message"));
  for (size_t i = 0; i < op.operands.size(); ++i) {
    NEREID_CHECK(observe(frame, op, i, "reaches a print", Use::Value));
    line += " " + tile_text(frame.in_type(op, i), frame.in(op, i));
  }
  frame.launch.print(line);
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
