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
  Float = 8,        ///< those with all functions: f32, bf16, f16
  Pointer = 16,
  SmallFloat = 32, ///< fp8, bf8
  Double = 64,     ///< f64
  Integer = Word | OtherInteger,
  Real = Float | Double,
  Number = Integer | Real,
  Bits = Bool | Integer,
  Comparable = Bool | Number,
  Factor = Integer | Float | SmallFloat,
  Value = Comparable | SmallFloat,
  Any = Value | Pointer,
};

/// Whether a value of that type is in the set.
bool contains(ElementSet set, const Type &type);
/// For messages: "an integer, f32, bf16 or f16".
std::string_view describe(ElementSet set);

} // namespace nereid::ir
