// Reductions, scans, matrix products and quantisation.
#include "dsl/ir/builder.h"

#include <algorithm>

#include <fmt/format.h>

namespace nereid::ir {

ValueId Builder::reduce(Opcode opcode, ValueId value, int axis, bool keep) {
  std::string_view what = facts(opcode).name;
  require_value(what, value);
  bool wants_truth = opcode == Opcode::ReduceAny;
  require_element(what, value, contains(facts(opcode).first, type(value)),
                  wants_truth ? "i1" : "an integer or float");
  size_t index = checked_axis(what, value, axis);
  Type to = type(value);
  to.shape.erase(to.shape.begin() + static_cast<std::ptrdiff_t>(index));
  if (opcode == Opcode::ArgMax)
    to.element = Element::I32;
  ValueId result = emit_one(opcode, {value}, to, {{"axis", static_cast<int64_t>(index)}});
  return keep ? expand_dims(result, static_cast<int>(index)) : result;
}

ValueId Builder::cumsum(ValueId value, int axis) {
  require_value("cumsum", value);
  require_element("cumsum", value, contains(facts(Opcode::CumSum).first, type(value)), "an integer or float");
  size_t index = checked_axis("cumsum", value, axis);
  return emit_one(Opcode::CumSum, {value}, type(value), {{"axis", static_cast<int64_t>(index)}});
}

ValueId Builder::gather(ValueId value, ValueId index, int axis) {
  require_value("gather", value);
  require_value("the index of gather", index);
  require_element("the index of gather", index, type(index).element == Element::I32, "i32");
  const size_t along = checked_axis("gather", value, axis);
  // Missing leading dimensions of the index are repeated, as everywhere.
  const Shape &given = type(index).shape;
  Shape wanted = type(value).shape;
  const size_t missing = wanted.size() - std::min(wanted.size(), given.size());
  wanted[along] = along < missing ? 1 : given[along - missing];
  index = broadcast_operand("the index of gather", index, wanted);
  return emit_one(Opcode::Gather, {value, index}, Type::tile(type(value).element, wanted),
                  {{"axis", static_cast<int64_t>(along)}});
}

ValueId Builder::dot(ValueId a, ValueId b) {
  require_value("dot", a);
  require_value("dot", b);
  const Element element = type(a).element;
  if (const std::optional<Format> format_a = format_of(element)) {
    const std::optional<Format> format_b = format_of(type(b).element);
    require_element("dot", b, format_b.has_value(), "fp8 or bf8");
    return dot(a, *format_a, b, *format_b);
  }
  require_element("dot", a, element == Element::BF16 || element == Element::F16 || element == Element::I8,
                  "bf16, f16, i8, fp8 or bf8");
  require_element("dot", b, type(b).element == element, facts(element).name);
  return emit_dot(a, b, element == Element::I8 ? Element::I32 : Element::F32, {});
}

ValueId Builder::dot(ValueId a, Format format_a, ValueId b, Format format_b) {
  for (const auto &[operand, format] : {std::pair(a, format_a), std::pair(b, format_b)}) {
    if (!facts(format).scaled || facts(format).bits != 8)
      fail(fmt::format("dot: {} is not an 8-bit format", facts(format).name),
           "dot takes codes of e4m3 and e5m2; the smaller formats have scales: use dot_scaled");
    require_value("dot", operand);
    require_element("dot", operand, holds_codes(type(operand).element, format),
                    fmt::format("u8 (codes) or the element of {}", facts(format).name));
  }
  return emit_dot(
      a, b, Element::F32,
      {{"format_a", std::string(facts(format_a).name)}, {"format_b", std::string(facts(format_b).name)}});
}

ValueId Builder::emit_dot(ValueId a, ValueId b, Element result, Attributes attributes) {
  for (ValueId operand : {a, b})
    if (type(operand).rank() != 2)
      fail(fmt::format("dot: an operand has shape {}, not [M, K] or [K, N]", text(type(operand).shape)),
           "Reshape the operand to rank 2");
  const Shape &x = type(a).shape, &y = type(b).shape;
  if (x[1] != y[0])
    fail(fmt::format("dot: a of shape {} has K = {}, b of shape {} has K = {}", text(x), x[1], text(y), y[0]),
         "a is [M, K] and b is [K, N]: transpose b with trans(b) when it is [N, K]");
  return emit_one(Opcode::Dot, {a, b}, Type::tile(result, {x[0], y[1]}), std::move(attributes));
}

int64_t Builder::check_scaled(const ScaledOperand &side, bool is_a) const {
  const FormatFacts &format = facts(side.format);
  std::string name = fmt::format("dot_scaled: {}", is_a ? "a" : "b");
  const Type &codes = type(side.codes);
  require_value(name, side.codes);
  if (codes.rank() != 2)
    fail(fmt::format("{} has shape {}, not {}", name, text(codes.shape), is_a ? "[M, K]" : "[K, N]"),
         "Reshape the operand to rank 2");
  int64_t along_k = codes.shape[is_a ? 1 : 0];
  if (!format.scaled) {
    Element wanted = side.format == Format::BF16 ? Element::BF16 : Element::F16;
    require_element(name, side.codes, codes.element == wanted, format.name);
    if (along_k % scale_group != 0)
      fail(fmt::format("{} has K = {}, not a multiple of {}", name, along_k, scale_group),
           fmt::format("Pad K to a multiple of {}", scale_group));
    return along_k;
  }
  require_element(name, side.codes, holds_codes(codes.element, side.format), "u8 (packed codes)");
  int64_t k = along_k * 8 / format.bits;
  if (along_k * 8 % format.bits != 0 || k % scale_group != 0)
    fail(fmt::format("{} has {} bytes of {} along K, no whole groups of {} values", name, along_k,
                     format.name, scale_group),
         fmt::format("A group of {} {} values takes {} bytes", scale_group, format.name,
                     scale_group * format.bits / 8));
  if (!side.scales)
    fail(fmt::format("{} has no scales", name), "Every microscaling format has one e8m0 scale for 32 values");
  const Type &scales = type(*side.scales);
  require_value(name, *side.scales);
  require_element(name + "'s scales", *side.scales, scales.element == Element::U8, "u8 (e8m0)");
  Shape wanted{codes.shape[is_a ? 0 : 1], k / scale_group};
  if (scales.shape != wanted)
    fail(fmt::format("{} of shape {} has scales of shape {}, wanted {}", name, text(codes.shape),
                     text(scales.shape), text(wanted)),
         is_a ? "The scales of a are [M, K / 32]" : "The scales of b are [N, K / 32]");
  return k;
}

ValueId Builder::dot_scaled(const ScaledOperand &a, const ScaledOperand &b) {
  if (!facts(a.format).scaled && !facts(b.format).scaled)
    fail("dot_scaled: neither side has scales", "Use dot(a, b)");
  int64_t k_a = check_scaled(a, true), k_b = check_scaled(b, false);
  const Shape &x = type(a.codes).shape, &y = type(b.codes).shape;
  if (k_a != k_b)
    fail(fmt::format("dot_scaled: a of shape {} has K = {}, b of shape {} has K = {}", text(x), k_a, text(y),
                     k_b),
         "a is [M, K] and b is [K, N], both packed along K");
  std::vector<ValueId> operands;
  for (const ScaledOperand *side : {&a, &b}) {
    operands.push_back(side->codes);
    if (facts(side->format).scaled)
      operands.push_back(*side->scales);
  }
  return emit_one(
      Opcode::DotScaled, operands, Type::tile(Element::F32, {x[0], y[1]}),
      {{"format_a", std::string(facts(a.format).name)}, {"format_b", std::string(facts(b.format).name)}});
}

std::pair<ValueId, ValueId> Builder::quantize(ValueId value, Format format, ScaleRule rule) {
  require_value("quantize", value);
  require_element("quantize", value, contains(ElementSet::Float, type(value)), "f32, bf16 or f16");
  const FormatFacts &target = facts(format);
  if (!target.scaled)
    fail(fmt::format("quantize: {} is not a microscaling format", target.name),
         "Use cast to round to bf16 or f16");
  Shape shape = type(value).shape;
  if (shape.empty() || shape.back() % scale_group != 0)
    fail(fmt::format("quantize: the last dimension of shape {} is not a multiple of {}", text(shape),
                     scale_group),
         fmt::format("Values share a scale in groups of {} along the last axis", scale_group));
  Shape codes = shape, scales = shape;
  codes.back() = shape.back() * target.bits / 8;
  scales.back() = shape.back() / scale_group;
  Op &op = emit(Opcode::Quantize, {value}, {Type::tile(Element::U8, codes), Type::tile(Element::U8, scales)},
                {{"format", std::string(target.name)}, {"rule", std::string(name_of(rule))}});
  return {op.results[0], op.results[1]};
}

} // namespace nereid::ir
