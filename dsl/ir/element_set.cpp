// Which types an operation takes as its first operand, and the words for it in messages.
#include "dsl/ir/element_set.h"

namespace nereid::ir {

static ElementSet set_of(const Type &type) {
  if (type.pointer)
    return ElementSet::Pointer;
  switch (facts(type.element).kind) {
  case ElementKind::Bool:
    return ElementSet::Bool;
  case ElementKind::Float:
    return is_small_float(type.element)   ? ElementSet::SmallFloat
           : type.element == Element::F64 ? ElementSet::Double
                                          : ElementSet::Float;
  default:
    return facts(type.element).bits == 32 ? ElementSet::Word : ElementSet::OtherInteger;
  }
}

bool contains(ElementSet set, const Type &type) {
  return (static_cast<unsigned>(set) & static_cast<unsigned>(set_of(type))) != 0;
}

std::string_view describe(ElementSet set) {
  switch (set) {
  case ElementSet::Bool:
    return "i1";
  case ElementSet::Word:
    return "i32 or u32";
  case ElementSet::Integer:
    return "an integer";
  case ElementSet::Float:
    return "f32, bf16 or f16";
  case ElementSet::Real:
    return "f64, f32, bf16 or f16";
  case ElementSet::Pointer:
    return "a pointer";
  case ElementSet::Number:
    return "an integer, f64, f32, bf16 or f16";
  case ElementSet::Bits:
    return "i1 or an integer";
  case ElementSet::Comparable:
    return "i1, an integer, f64, f32, bf16 or f16";
  case ElementSet::Factor:
    return "an integer, f32, bf16, f16, fp8 or bf8";
  case ElementSet::Value:
    return "a tile of elements";
  default:
    return "anything";
  }
}

} // namespace nereid::ir
