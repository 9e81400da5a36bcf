#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "dsl/ir/element.h"

/// The element types of tiles as C++ types. f32 is float and the integers are the fixed-width ones; i1, bf16
/// and f16 have types of their own.
namespace nereid {

/// A truth value; one byte in memory.
struct i1 {
  bool value;
  i1() = default;
  constexpr explicit i1(bool v) : value(v) {}
  constexpr explicit operator bool() const { return value; }
  bool operator==(const i1 &) const = default;
};

using i8 = int8_t;
using u8 = uint8_t;
using i16 = int16_t;
using u16 = uint16_t;
using i32 = int32_t;
using u32 = uint32_t;
using i64 = int64_t;
using u64 = uint64_t;
using f32 = float;

namespace detail {

/// Rounds to the nearest bfloat16, ties to even; a NaN stays a (quiet) NaN.
constexpr uint16_t bf16_bits(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/// Rounds to the nearest IEEE binary16, ties to even, subnormals included.
constexpr uint16_t f16_bits(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t sign = bits >> 16 & 0x8000;
  uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000)
    return static_cast<uint16_t>(sign | 0x7e00);
  if (magnitude >= 0x477ff000) // half way between the largest finite number and the next power of two
    return static_cast<uint16_t>(sign | 0x7c00);
  if (magnitude < 0x33000001) // at most half of the smallest subnormal
    return static_cast<uint16_t>(sign);
  uint32_t exponent = magnitude >> 23;
  bool normal = exponent >= 113;
  uint32_t significand = normal ? magnitude - (112u << 23) : (magnitude & 0x7fffff) | 0x800000;
  uint32_t shift = normal ? 13 : 126 - exponent;
  uint32_t half = (1u << (shift - 1)) - 1 + (significand >> shift & 1);
  return static_cast<uint16_t>(sign | (significand + half) >> shift);
}

constexpr float f16_value(uint16_t bits) {
  uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  uint32_t exponent = bits >> 10 & 31;
  uint32_t fraction = bits & 0x3ff;
  if (exponent == 31)
    return std::bit_cast<float>(sign | 0x7f800000 | fraction << 13);
  if (exponent != 0)
    return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
  float magnitude = static_cast<float>(fraction) * 0x1p-24f;
  return sign != 0 ? -magnitude : magnitude;
}

} // namespace detail

/// bfloat16 storage: the upper half of an f32. Conversion from float rounds to nearest even.
struct bf16 {
  uint16_t bits;
  bf16() = default;
  constexpr explicit bf16(float value) : bits(detail::bf16_bits(value)) {}
  constexpr operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
  static constexpr bf16 from_bits(uint16_t bits) {
    bf16 made(0.0f);
    made.bits = bits;
    return made;
  }
};

/// IEEE binary16 storage. Conversion from float rounds to nearest even.
struct f16 {
  uint16_t bits;
  f16() = default;
  constexpr explicit f16(float value) : bits(detail::f16_bits(value)) {}
  constexpr operator float() const { return detail::f16_value(bits); }
  static constexpr f16 from_bits(uint16_t bits) {
    f16 made(0.0f);
    made.bits = bits;
    return made;
  }
};

/// The ir::Element of a C++ element type.
template <class T> struct ElementTraits;
template <ir::Element E> struct ElementIs {
  static constexpr ir::Element element = E;
};
template <> struct ElementTraits<i1> : ElementIs<ir::Element::I1> {};
template <> struct ElementTraits<i8> : ElementIs<ir::Element::I8> {};
template <> struct ElementTraits<u8> : ElementIs<ir::Element::U8> {};
template <> struct ElementTraits<i16> : ElementIs<ir::Element::I16> {};
template <> struct ElementTraits<u16> : ElementIs<ir::Element::U16> {};
template <> struct ElementTraits<i32> : ElementIs<ir::Element::I32> {};
template <> struct ElementTraits<u32> : ElementIs<ir::Element::U32> {};
template <> struct ElementTraits<i64> : ElementIs<ir::Element::I64> {};
template <> struct ElementTraits<u64> : ElementIs<ir::Element::U64> {};
template <> struct ElementTraits<f16> : ElementIs<ir::Element::F16> {};
template <> struct ElementTraits<bf16> : ElementIs<ir::Element::BF16> {};
template <> struct ElementTraits<f32> : ElementIs<ir::Element::F32> {};

template <class T> inline constexpr ir::Element element_of = ElementTraits<T>::element;

template <class T>
concept ElementType = requires { ElementTraits<T>::element; };
template <class T>
concept FloatElement = std::same_as<T, f32> || std::same_as<T, bf16> || std::same_as<T, f16>;
template <class T>
concept IntegerElement = ElementType<T> && std::integral<T>;
/// Everything that arithmetic is defined for: all elements but i1.
template <class T>
concept NumericElement = FloatElement<T> || IntegerElement<T>;
/// What & | ^ ~ are defined for.
template <class T>
concept BitElement = IntegerElement<T> || std::same_as<T, i1>;

} // namespace nereid
