#include "dsl/ir/op_rules.h"

#include <array>

namespace nereid::ir {
namespace {

constexpr OpRule rule(Opcode opcode) {
  switch (opcode) {
  case Opcode::Constant:
  case Opcode::ProgramId:
  case Opcode::NumPrograms:
  case Opcode::Arange:
    return {0, 0, 1, 0, TakesAll};
  case Opcode::Broadcast:
  case Opcode::ExpandDims:
  case Opcode::Reshape:
  case Opcode::Permute:
    return {1, 1, 1, 0, TakesAll};
  case Opcode::Split:
    return {1, 1, 2, 0, TakesAll};
  case Opcode::Join:
    return {2, 2, 1, 0, TakesAll};
  case Opcode::Neg:
  case Opcode::Abs:
    return {1, 1, 1, 0, TakesNumber};
  case Opcode::Not:
    return {1, 1, 1, 0, TakesBits};
  case Opcode::Exp:
  case Opcode::Exp2:
  case Opcode::Log:
  case Opcode::Log2:
  case Opcode::Sqrt:
  case Opcode::Rsqrt:
  case Opcode::Tanh:
  case Opcode::Erf:
  case Opcode::Sigmoid:
  case Opcode::Floor:
  case Opcode::Ceil:
  case Opcode::Round:
    return {1, 1, 1, 0, TakesFloat};
  case Opcode::Add:
  case Opcode::Sub:
  case Opcode::Mul:
  case Opcode::Div:
  case Opcode::Min:
  case Opcode::Max:
    return {2, 2, 1, 0, TakesNumber};
  case Opcode::Rem:
  case Opcode::Shl:
  case Opcode::Shr:
  case Opcode::MulHi:
    return {2, 2, 1, 0, TakesInteger};
  case Opcode::And:
  case Opcode::Or:
  case Opcode::Xor:
    return {2, 2, 1, 0, TakesBits};
  case Opcode::Eq:
  case Opcode::Ne:
    return {2, 2, 1, 0, TakesValue};
  case Opcode::Lt:
  case Opcode::Le:
  case Opcode::Gt:
  case Opcode::Ge:
    return {2, 2, 1, 0, TakesNumber};
  case Opcode::Fma:
    return {3, 3, 1, 0, TakesFloat};
  case Opcode::Where:
    return {3, 3, 1, 0, TakesBool};
  case Opcode::Cast:
  case Opcode::Bitcast:
    return {1, 1, 1, 0, TakesValue};
  case Opcode::PtrAdd:
    return {2, 2, 1, 0, TakesPointer};
  case Opcode::InlineAsm:
    return {0, any_number, 1, 0, TakesValue};
  case Opcode::CvtScaled:
    return {3, 3, 1, 0, TakesFloat};
  case Opcode::ReduceMax:
  case Opcode::ReduceMin:
  case Opcode::ReduceSum:
  case Opcode::ArgMax:
  case Opcode::CumSum:
    return {1, 1, 1, 0, TakesNumber};
  case Opcode::ReduceAny:
    return {1, 1, 1, 0, TakesBool};
  case Opcode::Dot:
    return {2, 2, 1, 0, TakesNumber};
  case Opcode::DotScaled:
    return {2, 4, 1, 0, TakesNumber};
  case Opcode::Quantize:
    return {1, 1, 2, 0, TakesFloat};
  case Opcode::Load:
    return {1, 3, 1, 0, TakesPointer};
  case Opcode::Store:
    return {2, 3, 0, 0, TakesPointer};
  case Opcode::AtomicAdd:
  case Opcode::AtomicMax:
  case Opcode::AtomicExchange:
    return {2, 3, 1, 0, TakesPointer};
  case Opcode::AtomicCompareExchange:
    return {3, 4, 1, 0, TakesPointer};
  case Opcode::Assume:
  case Opcode::DeviceAssert:
    return {1, 1, 0, 0, TakesBool};
  case Opcode::DevicePrint:
    return {0, any_number, 0, 0, TakesAll};
  case Opcode::For:
    return {3, any_number, any_number, 1, TakesInteger};
  case Opcode::If:
    return {1, 1, any_number, 2, TakesBool};
  case Opcode::Yield:
    return {0, any_number, 0, 0, TakesAll};
  }
  return {};
}

constexpr AttributeRule attributes[] = {
    {Opcode::Constant, "bits", AttributeKind::Integer, true},
    {Opcode::ProgramId, "axis", AttributeKind::Integer, true},
    {Opcode::NumPrograms, "axis", AttributeKind::Integer, true},
    {Opcode::Arange, "start", AttributeKind::Integer, true},
    {Opcode::ExpandDims, "axis", AttributeKind::Integer, true},
    {Opcode::Permute, "order", AttributeKind::Integers, true},
    {Opcode::InlineAsm, "asm", AttributeKind::String, true},
    {Opcode::InlineAsm, "constraints", AttributeKind::String, true},
    {Opcode::InlineAsm, "host", AttributeKind::Integer, false},
    {Opcode::CvtScaled, "format", AttributeKind::String, true},
    {Opcode::ReduceMax, "axis", AttributeKind::Integer, true},
    {Opcode::ReduceMin, "axis", AttributeKind::Integer, true},
    {Opcode::ReduceSum, "axis", AttributeKind::Integer, true},
    {Opcode::ReduceAny, "axis", AttributeKind::Integer, true},
    {Opcode::ArgMax, "axis", AttributeKind::Integer, true},
    {Opcode::CumSum, "axis", AttributeKind::Integer, true},
    {Opcode::Dot, "format_a", AttributeKind::String, false},
    {Opcode::Dot, "format_b", AttributeKind::String, false},
    {Opcode::DotScaled, "format_a", AttributeKind::String, true},
    {Opcode::DotScaled, "format_b", AttributeKind::String, true},
    {Opcode::Quantize, "format", AttributeKind::String, true},
    {Opcode::Quantize, "rule", AttributeKind::String, true},
    {Opcode::Load, "cache", AttributeKind::String, false},
    {Opcode::Store, "cache", AttributeKind::String, false},
    {Opcode::AtomicAdd, "order", AttributeKind::String, true},
    {Opcode::AtomicAdd, "scope", AttributeKind::String, true},
    {Opcode::AtomicMax, "order", AttributeKind::String, true},
    {Opcode::AtomicMax, "scope", AttributeKind::String, true},
    {Opcode::AtomicExchange, "order", AttributeKind::String, true},
    {Opcode::AtomicExchange, "scope", AttributeKind::String, true},
    {Opcode::AtomicCompareExchange, "order", AttributeKind::String, true},
    {Opcode::AtomicCompareExchange, "scope", AttributeKind::String, true},
    {Opcode::DeviceAssert, "message", AttributeKind::String, true},
    {Opcode::DevicePrint, "message", AttributeKind::String, true},
    {Opcode::For, "stages", AttributeKind::Integer, false},
};

constexpr size_t opcode_count = 0
#define NEREID_OP(enumerator, text, op_class, effect) +1
#include "dsl/ir/ops.def"
    ;

constexpr std::array<OpRule, opcode_count> make_rules() {
  std::array<OpRule, opcode_count> rules{};
  for (size_t i = 0; i < opcode_count; ++i)
    rules[i] = rule(static_cast<Opcode>(i));
  return rules;
}

constexpr std::array<OpRule, opcode_count> rules = make_rules();

} // namespace

const OpRule &rule_of(Opcode opcode) { return rules[static_cast<size_t>(opcode)]; }
std::span<const AttributeRule> attribute_rules() { return attributes; }

ElementSet set_of(const Type &type) {
  if (type.pointer)
    return TakesPointer;
  switch (facts(type.element).kind) {
  case ElementKind::Bool:
    return TakesBool;
  case ElementKind::Float:
    return TakesFloat;
  default:
    return TakesInteger;
  }
}

std::string_view describe(ElementSet set) {
  switch (set) {
  case TakesBool:
    return "i1";
  case TakesInteger:
    return "an integer";
  case TakesFloat:
    return "a float";
  case TakesPointer:
    return "a pointer";
  case TakesNumber:
    return "an integer or a float";
  case TakesBits:
    return "i1 or an integer";
  case TakesValue:
    return "no pointer";
  default:
    return "anything";
  }
}

} // namespace nereid::ir
