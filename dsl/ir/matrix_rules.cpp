// Type rules of dot, dot_scaled and quantize.
#include "dsl/ir/matrix_rules.h"

#include <utility>

#include <fmt/format.h>

#include "dsl/ir/format.h"

namespace nereid::ir {
namespace {

/// One side of dot_scaled: what its operands say about K and about the rows of the result.
struct Side {
  int64_t rows = 0;
  int64_t k = 0;
};

Complaint check_side(const Function &function, const Op &op, size_t &next, bool is_a, Side &side) {
  const char *name = is_a ? "a" : "b";
  const std::string &format_name = op.string(is_a ? "format_a" : "format_b");
  const std::optional<Format> format = format_named(format_name);
  if (!format)
    return fmt::format("'{}' is not a format", format_name);
  if (next >= op.operands.size())
    return fmt::format("operand {} is missing", name);
  const FormatFacts &format_facts = facts(*format);
  const Type &tile = function.type(op.operands[next++]);
  if (tile.pointer || tile.rank() != 2)
    return fmt::format("{} is {}, not a matrix", name, tile.text());
  const Element element = format_facts.scaled       ? Element::U8
                          : *format == Format::BF16 ? Element::BF16
                                                    : Element::F16;
  if (!holds_codes(tile.element, *format))
    if (auto complaint = want(tile, Type::tile(element, tile.shape), name))
      return complaint;
  const int64_t packed = tile.shape[is_a ? 1 : 0];
  side.rows = tile.shape[is_a ? 0 : 1];
  if (!format_facts.scaled) {
    side.k = packed;
    return {};
  }
  if (packed * 8 % (format_facts.bits * scale_group) != 0)
    return fmt::format("{} bytes along K of {} hold no whole groups of {} {} values", packed, name,
                       scale_group, format_name);
  side.k = packed * 8 / format_facts.bits;
  if (next >= op.operands.size())
    return fmt::format("the scales of {} are missing", name);
  const Type &scales = function.type(op.operands[next++]);
  const Type wanted = Type::tile(Element::U8, {side.rows, side.k / scale_group});
  if (scales == wanted)
    return {};
  return fmt::format("the scales of {} are {}, not {}", name, scales.text(), wanted.text());
}

Complaint dot_scaled(const Function &function, const Op &op) {
  size_t next = 0;
  Side a, b;
  if (auto complaint = check_side(function, op, next, true, a))
    return complaint;
  if (auto complaint = check_side(function, op, next, false, b))
    return complaint;
  if (next != op.operands.size())
    return fmt::format("{} operands, but a side of bf16 or f16 has no scales", op.operands.size());
  if (next == 2)
    return "no side is scaled";
  if (a.k != b.k)
    return fmt::format("K is {} in a and {} in b", a.k, b.k);
  return want(function.type(op.result()), Type::tile(Element::F32, {a.rows, b.rows}), "the result");
}

Complaint dot(const Function &function, const Op &op) {
  const Type &a = function.type(op.operands[0]);
  const Type &b = function.type(op.operands[1]);
  const bool codes = a.element == Element::U8 || format_of(a.element);
  if (!codes && a.element != Element::BF16 && a.element != Element::F16 && a.element != Element::I8)
    return fmt::format("dot takes bf16, f16, i8 or codes in u8, fp8 and bf8, not {}", a.text());
  for (const auto &[name, side] : {std::pair("format_a", &a), std::pair("format_b", &b)}) {
    if (op.has(name) != codes)
      return fmt::format("{} belongs to codes, and they to it", name);
    const std::optional<Format> format = codes ? format_named(op.string(name)) : std::nullopt;
    if (codes && (!format || !facts(*format).scaled || facts(*format).bits != 8))
      return fmt::format("'{}' is not an 8-bit format", op.string(name));
    if (codes && (side->pointer || !holds_codes(side->element, *format)))
      return fmt::format("{} holds no codes of {}", side->text(), op.string(name));
  }
  if (a.rank() != 2 || b.rank() != 2)
    return "dot takes matrices";
  if (a.shape[1] != b.shape[0])
    return fmt::format("K is {} in a and {} in b", a.shape[1], b.shape[0]);
  if (!codes)
    if (auto complaint = want(b, Type::tile(a.element, b.shape), "b"))
      return complaint;
  const Element sum = a.element == Element::I8 ? Element::I32 : Element::F32;
  return want(function.type(op.result()), Type::tile(sum, {a.shape[0], b.shape[1]}), "the result");
}

Complaint quantize(const Function &function, const Op &op) {
  const Type &x = function.type(op.operands[0]);
  const std::optional<Format> format = format_named(op.string("format"));
  if (!format || !facts(*format).scaled)
    return fmt::format("'{}' is not a format with scales", op.string("format"));
  if (!scale_rule_named(op.string("rule")))
    return fmt::format("rule is even, floor or ceil, not '{}'", op.string("rule"));
  if (x.rank() == 0 || x.shape.back() % scale_group != 0)
    return fmt::format("the last dimension of {} is not a multiple of {}", text(x.shape), scale_group);
  Shape codes = x.shape, scales = x.shape;
  codes.back() = codes.back() * facts(*format).bits / 8;
  scales.back() /= scale_group;
  if (auto complaint = want(function.type(op.results[0]), Type::tile(Element::U8, codes), "result 0"))
    return complaint;
  return want(function.type(op.results[1]), Type::tile(Element::U8, scales), "result 1");
}

} // namespace

Complaint matrix_error(const Function &function, const Op &op) {
  if (op.opcode == Opcode::Dot)
    return dot(function, op);
  return op.opcode == Opcode::DotScaled ? dot_scaled(function, op) : quantize(function, op);
}

} // namespace nereid::ir
