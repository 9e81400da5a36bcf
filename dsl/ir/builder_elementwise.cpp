#include "dsl/ir/builder.h"

#include <fmt/format.h>

#include "dsl/ir/fold.h"

namespace nereid::ir {

namespace {
/// A set of element types that an operation is defined for.
struct Elements {
  bool (*contains)(Element);
  std::string_view text;
};
} // namespace

static constexpr Elements any_element{[](Element) { return true; }, "any"};
static constexpr Elements numeric{[](Element e) { return e != Element::I1; }, "an integer or float"};
static constexpr Elements floats{is_float, "f32, bf16 or f16"};
static constexpr Elements integers{[](Element e) { return is_integer(e) && e != Element::I1; }, "an integer"};
static constexpr Elements bits{is_integer, "an integer or i1"};
static constexpr Elements words{[](Element e) { return e == Element::I32 || e == Element::U32; },
                                "i32 or u32"};

static const Elements &elements_of(Opcode opcode) {
  switch (opcode) {
  case Opcode::Eq:
  case Opcode::Ne:
    return any_element;
  case Opcode::Not:
  case Opcode::And:
  case Opcode::Or:
  case Opcode::Xor:
    return bits;
  case Opcode::Rem:
  case Opcode::Shl:
  case Opcode::Shr:
    return integers;
  case Opcode::MulHi:
    return words;
  case Opcode::Neg:
  case Opcode::Abs:
  case Opcode::Add:
  case Opcode::Sub:
  case Opcode::Mul:
  case Opcode::Div:
  case Opcode::Min:
  case Opcode::Max:
  case Opcode::Lt:
  case Opcode::Le:
  case Opcode::Gt:
  case Opcode::Ge:
    return numeric;
  default:
    return floats;
  }
}

ValueId Builder::constant(Type type, uint64_t bits) {
  check_shape("a constant", type.shape);
  ValueId value = emit_one(Opcode::Constant, {}, std::move(type), {{"bits", static_cast<int64_t>(bits)}});
  made_[value].bits = bits;
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
  if (!made_[value].bits || !is_integer(type(value).element))
    return std::nullopt;
  return integer_value(type(value).element, *made_[value].bits);
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
  std::string_view what = facts(opcode).name;
  const Elements &allowed = elements_of(opcode);
  require_value(what, value);
  require_element(what, value, allowed.contains(type(value).element), allowed.text);
  return emit_one(opcode, {value}, type(value));
}

std::optional<ValueId> Builder::fold(Opcode opcode, ValueId a, ValueId b) {
  Element element = type(a).element;
  const std::optional<uint64_t> &x = made_[a].bits, &y = made_[b].bits;
  if (x && y) {
    std::optional<uint64_t> bits = fold_integers(opcode, element, *x, *y);
    if (!bits)
      return std::nullopt;
    bool compares = facts(opcode).op_class == OpClass::Compare;
    return constant(Type::tile(compares ? Element::I1 : element, type(a).shape), *bits);
  }
  if (y && is_identity(opcode, element, *y, false))
    return a;
  if (x && is_identity(opcode, element, *x, true))
    return b;
  return std::nullopt;
}

ValueId Builder::binary(Opcode opcode, ValueId a, ValueId b) {
  std::string_view what = facts(opcode).name;
  const Elements &allowed = elements_of(opcode);
  for (ValueId operand : {a, b}) {
    require_value(what, operand);
    require_element(what, operand, allowed.contains(type(operand).element), allowed.text);
    use(operand);
  }
  require_element(what, b, type(a).element == type(b).element, facts(type(a).element).name);
  Shape shape = common_shape(what, type(a).shape, type(b).shape);
  a = broadcast_operand(what, a, shape);
  b = broadcast_operand(what, b, shape);
  if (std::optional<ValueId> known = fold(opcode, a, b))
    return *known;
  bool compares = facts(opcode).op_class == OpClass::Compare;
  return emit_one(opcode, {a, b}, Type::tile(compares ? Element::I1 : type(a).element, shape));
}

ValueId Builder::fma(ValueId a, ValueId b, ValueId c) {
  Shape shape;
  for (ValueId operand : {a, b, c}) {
    require_value("fma", operand);
    require_element("fma", operand, is_float(type(operand).element), "f32, bf16 or f16");
    require_element("fma", operand, type(operand).element == type(a).element, facts(type(a).element).name);
    shape = common_shape("fma", shape, type(operand).shape);
  }
  a = broadcast_operand("fma", a, shape);
  b = broadcast_operand("fma", b, shape);
  c = broadcast_operand("fma", c, shape);
  return emit_one(Opcode::Fma, {a, b, c}, type(a));
}

ValueId Builder::where(ValueId condition, ValueId a, ValueId b) {
  for (ValueId operand : {condition, a, b})
    require_value("where", operand);
  require_element("where", condition, type(condition).element == Element::I1, "i1");
  require_element("where", b, type(a).element == type(b).element, facts(type(a).element).name);
  Shape shape = common_shape("where", type(a).shape, type(b).shape);
  shape = common_shape("where", type(condition).shape, shape);
  condition = broadcast_operand("where", condition, shape);
  a = broadcast_operand("where", a, shape);
  b = broadcast_operand("where", b, shape);
  if (std::optional<int64_t> known = constant_of(condition))
    return *known != 0 ? a : b;
  return emit_one(Opcode::Where, {condition, a, b}, type(a));
}

ValueId Builder::cast(ValueId value, Element element) {
  require_value("cast", value);
  Type to = type(value);
  if (to.element == element)
    return value;
  use(value);
  if (element == Element::I1)
    return binary(Opcode::Ne, value, constant(Type::tile(to.element, to.shape), 0));
  std::optional<int64_t> known = constant_of(value);
  to.element = element;
  if (known && is_integer(element))
    return constant(to, integer_bits(element, *known));
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
  if (made_[value].bits)
    return constant(to, *made_[value].bits);
  return emit_one(Opcode::Bitcast, {value}, to);
}

ValueId Builder::inline_asm(Element result, const std::string &text, const std::string &constraints,
                            HostFunction host, std::span<const ValueId> operands) {
  if (text.empty() || !constraints.starts_with("="))
    fail(fmt::format("inline_asm: text \"{}\" with constraints \"{}\"", text, constraints),
         "Give an instruction and constraints that start with the result's, as in \"=v,v,v\"");
  Shape shape;
  for (ValueId operand : operands) {
    require_value("inline_asm", operand);
    shape = common_shape("inline_asm", shape, type(operand).shape);
  }
  std::vector<ValueId> wide;
  for (ValueId operand : operands)
    wide.push_back(broadcast_operand("inline_asm", operand, shape));
  Attributes attributes{{"asm", text}, {"constraints", constraints}};
  if (host) {
    attributes["host"] = static_cast<int64_t>(function_.host_functions.size());
    function_.host_functions.push_back(std::move(host));
  }
  return emit_one(Opcode::InlineAsm, std::move(wide), Type::tile(result, shape), std::move(attributes));
}

ValueId Builder::cvt_scaled(Format format, ValueId even, ValueId odd, ValueId scale) {
  if (format != Format::E2M1 && format != Format::E4M3 && format != Format::E5M2)
    fail(fmt::format("cvt_scaled: there is no conversion of two values to {}", facts(format).name),
         "Use e2m1, e4m3 or e5m2; quantize knows all formats");
  Shape shape;
  for (ValueId operand : {even, odd, scale}) {
    require_value("cvt_scaled", operand);
    require_element("cvt_scaled", operand, type(operand).element == Element::F32, "f32");
    shape = common_shape("cvt_scaled", shape, type(operand).shape);
  }
  even = broadcast_operand("cvt_scaled", even, shape);
  odd = broadcast_operand("cvt_scaled", odd, shape);
  scale = broadcast_operand("cvt_scaled", scale, shape);
  Element codes = format == Format::E2M1 ? Element::U8 : Element::U16;
  return emit_one(Opcode::CvtScaled, {even, odd, scale}, Type::tile(codes, shape),
                  {{"format", std::string(facts(format).name)}});
}

} // namespace nereid::ir
