#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "dsl/half.h"
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

namespace detail {
/// A C++ number that rounds to bf16 or f16 by another way than f32's.
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
