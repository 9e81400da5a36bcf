#pragma once

#include <cstdint>
#include <string_view>

#include "dsl/ir/type.h"

namespace nereid::ir {

/// What an operand may be, as a set of bits.
enum class ElementSet : uint8_t {
  Bool = 1,
  Word = 2,         ///< i32, u32
  OtherInteger = 4, ///< integers of 8, 16 and 64 bits
  Float = 8,
  Pointer = 16,
  Integer = Word | OtherInteger,
  Number = Integer | Float,
  Bits = Bool | Integer,
  Value = Bool | Number,
  Any = Value | Pointer,
};

/// Whether a value of that type is in the set.
bool contains(ElementSet set, const Type &type);
/// For messages: "an integer or a float".
std::string_view describe(ElementSet set);

} // namespace nereid::ir
