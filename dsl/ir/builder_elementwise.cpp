// Constants and the elementwise operations, folded where all operands are integers known while tracing.
#include "dsl/ir/builder.h"

#include <fmt/format.h>

#include "dsl/ir/fold.h"

namespace nereid::ir {

ValueId Builder::constant(Type type, uint64_t bits) {
  check_shape("a constant", type.shape);
  ValueId value = emit_one(Opcode::Constant, {}, std::move(type), {{"bits", static_cast<int64_t>(bits)}});
  definitions_[value].bits = bits;
  return value;
}

ValueId Builder::constant_from(std::initializer_list<ValueId> sources, Type type, uint64_t bits) {
  ValueId value = constant(std::move(type), bits);
  for (ValueId source : sources)
    definitions_[value].from_argument |= definitions_[source].from_argument;
  return value;
}

ValueId Builder::integer(Element element, int64_t value, Shape shape) {
  uint64_t bits = integer_bits(element, value);
  if (integer_value(element, bits) != value || (element == Element::U64 && value < 0))
    fail(fmt::format("the constant {} does not fit {}", value, facts(element).name),
         fmt::format("Convert the tile to a wider element, or the constant: {}(...)", facts(element).name));
  return constant(Type::tile(element, std::move(shape)), bits);
}

std::optional<int64_t> Builder::constant_of(ValueId value) const {
  if (!definitions_[value].bits || !is_integer(type(value).element))
    return std::nullopt;
  return integer_value(type(value).element, *definitions_[value].bits);
}

static int64_t checked_grid_axis(const Builder &builder, std::string_view what, int axis) {
  if (axis < 0 || axis > 2)
    builder.fail(fmt::format("{}: the grid has no axis {}", what, axis), "Use 0, 1 or 2");
  return axis;
}

ValueId Builder::program_id(int axis) {
  return emit_one(Opcode::ProgramId, {}, Type::scalar(Element::I32),
                  {{"axis", checked_grid_axis(*this, "program_id", axis)}});
}

ValueId Builder::num_programs(int axis) {
  return emit_one(Opcode::NumPrograms, {}, Type::scalar(Element::I32),
                  {{"axis", checked_grid_axis(*this, "num_programs", axis)}});
}

ValueId Builder::unary(Opcode opcode, ValueId value) {
  require_operand(opcode, value);
  return emit_one(opcode, {value}, type(value));
}

ValueId Builder::as_fast(ValueId value) {
  std::vector<Op> &ops = regions_.back().block.ops;
  if (!ops.empty() && ops.back().results == std::vector<ValueId>{value} && has_fast_form(ops.back().opcode))
    ops.back().attributes["fast"] = int64_t{1};
  return value;
}

ValueId Builder::negate_ahead(ValueId value) {
  Op op;
  op.opcode = Opcode::Not;
  op.operands = {value};
  op.results = {new_value(type(value))};
  op.location = location_;
  regions_.back().block.ops.push_back(std::move(op));
  ++unlocated_;
  return regions_.back().block.ops.back().result();
}

std::optional<ValueId> Builder::fold(Opcode opcode, ValueId a, ValueId b) {
  Element element = type(a).element;
  const std::optional<uint64_t> &x = definitions_[a].bits, &y = definitions_[b].bits;
  if (x && y) {
    std::optional<uint64_t> bits = fold_integers(opcode, element, *x, *y);
    if (!bits)
      return std::nullopt;
    bool compares = facts(opcode).op_class == OpClass::Compare;
    return constant_from({a, b}, Type::tile(compares ? Element::I1 : element, type(a).shape), *bits);
  }
  if (y && is_identity(opcode, element, *y, false))
    return a;
  if (x && is_identity(opcode, element, *x, true))
    return b;
  return std::nullopt;
}

ValueId Builder::binary(Opcode opcode, ValueId a, ValueId b) {
  std::string_view what = facts(opcode).name;
  for (ValueId operand : {a, b}) {
    require_operand(opcode, operand);
    use(operand);
  }
  require_element(what, b, type(a).element == type(b).element, facts(type(a).element).name);
  const std::vector<ValueId> operands = broadcast_together(what, {a, b});
  a = operands[0];
  b = operands[1];
  // A zero that an argument's value gives may be in a branch that does not run.
  if (is_division(opcode) && constant_of(b) == 0 && !definitions_[b].from_argument)
    fail(fmt::format("{}: the divisor is 0", what),
         "The divisor is known while tracing: check it with a C++ if, or with static_check");
  if (std::optional<ValueId> known = fold(opcode, a, b))
    return *known;
  bool compares = facts(opcode).op_class == OpClass::Compare;
  return emit_one(opcode, {a, b}, Type::tile(compares ? Element::I1 : type(a).element, type(a).shape));
}

ValueId Builder::fma(ValueId a, ValueId b, ValueId c) {
  for (ValueId operand : {a, b, c}) {
    require_operand(Opcode::Fma, operand);
    require_element("fma", operand, type(operand).element == type(a).element, facts(type(a).element).name);
  }
  std::vector<ValueId> operands = broadcast_together("fma", {a, b, c});
  const Type result = type(operands[0]);
  return emit_one(Opcode::Fma, std::move(operands), result);
}

ValueId Builder::where(ValueId condition, ValueId a, ValueId b) {
  for (ValueId operand : {condition, a, b})
    require_value("where", operand);
  require_element("where", condition, type(condition).element == Element::I1, "i1");
  require_element("where", b, type(a).element == type(b).element, facts(type(a).element).name);
  const std::vector<ValueId> wide = broadcast_together("where", {a, b, condition});
  if (std::optional<int64_t> known = constant_of(condition))
    return *known != 0 ? wide[0] : wide[1];
  return emit_one(Opcode::Where, {wide[2], wide[0], wide[1]}, type(wide[0]));
}

ValueId Builder::cast(ValueId value, Element element) {
  require_value("cast", value);
  Type to = type(value);
  if (to.element == element)
    return value;
  use(value);
  if (element == Element::I1 && !is_small_float(to.element))
    return binary(Opcode::Ne, value, constant(Type::tile(to.element, to.shape), 0));
  std::optional<int64_t> known = constant_of(value);
  to.element = element;
  if (known && is_integer(element))
    return constant_from({value}, to, integer_bits(element, *known));
  return emit_one(Opcode::Cast, {value}, to);
}

ValueId Builder::bitcast(ValueId value, Element element) {
  require_value("bitcast", value);
  Type to = type(value);
  if (to.element == element)
    return value;
  require_element("bitcast", value, facts(to.element).bits == facts(element).bits,
                  fmt::format("of {} bits", facts(element).bits));
  use(value);
  to.element = element;
  if (definitions_[value].bits)
    return constant_from({value}, to, *definitions_[value].bits);
  return emit_one(Opcode::Bitcast, {value}, to);
}

ValueId Builder::inline_asm(Element result, const std::string &text, const std::string &constraints,
                            HostFunction host, std::span<const ValueId> operands) {
  if (text.empty() || !constraints.starts_with("="))
    fail(fmt::format("inline_asm: text \"{}\" with constraints \"{}\"", text, constraints),
         "Give an instruction and constraints that start with the result's, as in \"=v,v,v\"");
  for (ValueId operand : operands)
    require_value("inline_asm", operand);
  std::vector<ValueId> wide = broadcast_together("inline_asm", operands);
  const Shape shape = wide.empty() ? Shape{} : type(wide[0]).shape;
  Attributes attributes{{"asm", text}, {"constraints", constraints}};
  if (host) {
    attributes["host"] = static_cast<int64_t>(function_.host_functions.size());
    function_.host_functions.push_back(std::move(host));
  }
  return emit_one(Opcode::InlineAsm, std::move(wide), Type::tile(result, shape), std::move(attributes));
}

ValueId Builder::cvt_scaled(Format format, ValueId even, ValueId odd, ValueId scale) {
  if (format != Format::E2M1 && format != Format::E4M3 && format != Format::E5M2)
    fail(fmt::format("cvt_scaled: no conversion of two values to {} is available", facts(format).name),
         "Use e2m1, e4m3 or e5m2; quantize knows all formats");
  for (ValueId operand : {even, odd, scale}) {
    require_value("cvt_scaled", operand);
    require_element("cvt_scaled", operand, type(operand).element == Element::F32, "f32");
  }
  std::vector<ValueId> operands = broadcast_together("cvt_scaled", {even, odd, scale});
  const Element codes = format == Format::E2M1 ? Element::U8 : Element::U16;
  const Type result = Type::tile(codes, type(operands[0]).shape);
  return emit_one(Opcode::CvtScaled, std::move(operands), result,
                  {{"format", std::string(facts(format).name)}});
}

} // namespace nereid::ir
