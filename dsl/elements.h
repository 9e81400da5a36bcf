#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "dsl/half.h"
#include "dsl/ir/element.h"

/// The element types of tiles as C++ types. f32 is float, f64 double, and the integers are the fixed-width
/// ones; i1, bf16, f16, fp8 and bf8 have types of their own.
namespace nereid {

/// A truth value; one byte in memory.
struct i1 {
  bool value;
  i1() = default;
  constexpr explicit i1(bool v) : value(v) {}
  constexpr explicit operator bool() const { return value; }
  bool operator==(const i1 &) const = default;
};

/// Integers of the host as the language's elements are called.
using i8 = int8_t;
using u8 = uint8_t;
using i16 = int16_t;
using u16 = uint16_t;
using i32 = int32_t;
using u32 = uint32_t;
using i64 = int64_t;
using u64 = uint64_t;
using f32 = float;
using f64 = double;

namespace detail {
/// A C++ number that rounds to a narrower float by another way than f32's.
template <class C>
concept WiderNumber = std::is_arithmetic_v<C> && !std::same_as<C, float>;
} // namespace detail

/// bfloat16 storage: the upper half of an f32. Conversion from any number rounds once, to nearest even.
struct bf16 {
  uint16_t bits;
  bf16() = default;
  constexpr explicit bf16(float value) : bits(detail::bf16_bits(value)) {}
  template <detail::WiderNumber C>
  constexpr explicit bf16(C value) : bits(detail::bf16_bits(detail::round_to_odd(value))) {}
  constexpr operator float() const { return detail::bf16_value(bits); }
  static constexpr bf16 from_bits(uint16_t bits) {
    bf16 result(0.0f);
    result.bits = bits;
    return result;
  }
};

/// IEEE binary16 storage. Conversion from any number rounds once, to nearest even.
struct f16 {
  uint16_t bits;
  f16() = default;
  constexpr explicit f16(float value) : bits(detail::f16_bits(value)) {}
  template <detail::WiderNumber C>
  constexpr explicit f16(C value) : bits(detail::f16_bits(detail::round_to_odd(value))) {}
  constexpr operator float() const { return detail::f16_value(bits); }
  static constexpr f16 from_bits(uint16_t bits) {
    f16 result(0.0f);
    result.bits = bits;
    return result;
  }
};

/// OCP e4m3, a byte: 1.0 is 0x38, the largest is 448, there is no infinity. Conversion from any number rounds
/// once, to nearest even; what rounds to more than 448 becomes NaN.
struct fp8 {
  uint8_t bits;
  fp8() = default;
  constexpr explicit fp8(float value) : bits(detail::small_float_bits(detail::e4m3_format, value)) {}
  template <detail::WiderNumber C> constexpr explicit fp8(C value) : fp8(detail::round_to_odd(value)) {}
  constexpr operator float() const { return detail::small_float_value(detail::e4m3_format, bits); }
  static constexpr fp8 from_bits(uint8_t bits) {
    fp8 result(0.0f);
    result.bits = bits;
    return result;
  }
};

/// OCP e5m2, a byte: 1.0 is 0x3c, the largest is 57344. Conversion from any number rounds once, to nearest
/// even; what rounds to more becomes infinite.
struct bf8 {
  uint8_t bits;
  bf8() = default;
  constexpr explicit bf8(float value) : bits(detail::small_float_bits(detail::e5m2_format, value)) {}
  template <detail::WiderNumber C> constexpr explicit bf8(C value) : bf8(detail::round_to_odd(value)) {}
  constexpr operator float() const { return detail::small_float_value(detail::e5m2_format, bits); }
  static constexpr bf8 from_bits(uint8_t bits) {
    bf8 result(0.0f);
    result.bits = bits;
    return result;
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
template <> struct ElementTraits<f64> : ElementIs<ir::Element::F64> {};
template <> struct ElementTraits<fp8> : ElementIs<ir::Element::FP8> {};
template <> struct ElementTraits<bf8> : ElementIs<ir::Element::BF8> {};

template <class T> inline constexpr ir::Element element_of = ElementTraits<T>::element;

template <class T>
concept ElementType = requires { ElementTraits<T>::element; };
/// The floats that all functions of floats are defined for.
template <class T>
concept FloatElement = std::same_as<T, f32> || std::same_as<T, bf16> || std::same_as<T, f16>;
/// The floats that arithmetic is defined for.
template <class T>
concept RealElement = FloatElement<T> || std::same_as<T, f64>;
/// Floats of 8 bits: moved, converted and multiplied by dot.
template <class T>
concept SmallFloatElement = std::same_as<T, fp8> || std::same_as<T, bf8>;
template <class T>
concept IntegerElement = ElementType<T> && std::integral<T>;
/// Everything that arithmetic is defined for.
template <class T>
concept NumericElement = RealElement<T> || IntegerElement<T>;
/// What == and != are defined for.
template <class T>
concept ComparableElement = NumericElement<T> || std::same_as<T, i1>;
/// What & | ^ ~ are defined for.
template <class T>
concept BitElement = IntegerElement<T> || std::same_as<T, i1>;

} // namespace nereid
