#include "dsl/ir/op.h"

#include <array>

namespace nereid::ir {

static constexpr OpFacts table[] = {
#define NEREID_OP(enumerator, name, op_class, effect) {name, OpClass::op_class, OpEffect::effect},
#include "dsl/ir/ops.def"
};

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
    return true;
  default:
    break;
  }
  switch (opcode) {
  case Opcode::Fma:
  case Opcode::Where:
  case Opcode::Cast:
  case Opcode::Bitcast:
  case Opcode::PtrAdd:
  case Opcode::InlineAsm:
  case Opcode::CvtScaled:
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
