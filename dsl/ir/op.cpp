// The table of operations (ops.def) and the attributes of one operation.
#include "dsl/ir/op.h"

#include <array>

namespace nereid::ir {

namespace {

constexpr Arity between(unsigned min, unsigned max) { return {min, max}; }
constexpr Arity at_least(unsigned min) { return {min, Arity::unlimited}; }
constexpr Arity arity(unsigned count) { return {count, count}; }
constexpr Arity arity(Arity range) { return range; }

constexpr OpFacts table[] = {
#define NEREID_OP(enumerator, name, op_class, effect, operands, results, regions, first)                     \
  {name, OpClass::op_class, OpEffect::effect, arity(operands), arity(results), regions, ElementSet::first},
#include "dsl/ir/ops.def"
};

} // namespace

const OpFacts &facts(Opcode opcode) { return table[static_cast<size_t>(opcode)]; }

std::optional<Opcode> opcode_named(std::string_view name) {
  for (size_t i = 0; i < std::size(table); ++i)
    if (table[i].name == name)
      return static_cast<Opcode>(i);
  return std::nullopt;
}

bool is_elementwise(Opcode opcode) {
  switch (facts(opcode).op_class) {
  case OpClass::Unary:
  case OpClass::Binary:
  case OpClass::Compare:
  case OpClass::Elementwise:
    return true;
  default:
    return false;
  }
}

int64_t Op::integer(std::string_view name) const { return std::get<int64_t>(attributes.find(name)->second); }

const std::string &Op::string(std::string_view name) const {
  return std::get<std::string>(attributes.find(name)->second);
}

const std::vector<int64_t> &Op::integers(std::string_view name) const {
  return std::get<std::vector<int64_t>>(attributes.find(name)->second);
}

} // namespace nereid::ir
