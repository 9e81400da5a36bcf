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
  Float = 8, ///< those with arithmetic
  Pointer = 16,
  SmallFloat = 32, ///< fp8, bf8
  Integer = Word | OtherInteger,
  Number = Integer | Float,
  Bits = Bool | Integer,
  Comparable = Bool | Number,
  Factor = Number | SmallFloat,
  Value = Comparable | SmallFloat,
  Any = Value | Pointer,
};

/// Whether a value of that type is in the set.
bool contains(ElementSet set, const Type &type);
/// For messages: "an integer or a float".
std::string_view describe(ElementSet set);

} // namespace nereid::ir
