#pragma once

#include <limits>
#include <string>
#include <vector>

#include "dsl/ops/common.h"

/// Operations element by element. Shapes broadcast as those of operators do: equal, or a scalar with
/// anything, or of one rank with sizes of 1. Elements never convert by themselves.
namespace nereid {

using detail::Where;

/// An operation of one operand with its result's element.
#define NEREID_UNARY(function, concept_name, opcode)                                                         \
  template <detail::concept_name X>                                                                          \
  Tile<detail::ElementOf<X>> function(const X &x, Where where = Where::current()) {                          \
    return detail::make<detail::ElementOf<X>>(                                                               \
        detail::at(where).unary(ir::Opcode::opcode, detail::id_of(x)));                                      \
  }
/// One that f64 does not have.
#define NEREID_FLOAT_UNARY(function, opcode)                                                                 \
  NEREID_UNARY(function, FloatTile, opcode)                                                                  \
  template <detail::DoubleTile X> detail::No_function_of_f64_convert_with_to_f32 function(const X &) = delete;
NEREID_UNARY(abs, NumericTile, Abs)
NEREID_FLOAT_UNARY(exp, Exp)
NEREID_FLOAT_UNARY(exp2, Exp2)
NEREID_FLOAT_UNARY(log, Log)
NEREID_FLOAT_UNARY(log2, Log2)
NEREID_UNARY(sqrt, RealTile, Sqrt)
NEREID_FLOAT_UNARY(rsqrt, Rsqrt)
NEREID_FLOAT_UNARY(tanh, Tanh)
NEREID_FLOAT_UNARY(erf, Erf)
NEREID_FLOAT_UNARY(sigmoid, Sigmoid)
/// Of radians, of any size.
NEREID_FLOAT_UNARY(sin, Sin)
NEREID_FLOAT_UNARY(cos, Cos)
NEREID_FLOAT_UNARY(atan, Atan)
/// In radians, asin of -pi/2 to pi/2 and acos of 0 to pi; NaN beyond +-1.
NEREID_FLOAT_UNARY(asin, Asin)
NEREID_FLOAT_UNARY(acos, Acos)
/// log(1 + x) and e^x - 1, exact to the last places near 0.
NEREID_FLOAT_UNARY(log1p, Log1p)
NEREID_FLOAT_UNARY(expm1, Expm1)
NEREID_UNARY(floor, RealTile, Floor)
NEREID_UNARY(ceil, RealTile, Ceil)
/// To the nearest integer, ties to even.
NEREID_UNARY(round, RealTile, Round)
/// Towards 0.
NEREID_UNARY(trunc, RealTile, Trunc)
/// How many bits are 1.
NEREID_UNARY(popcount, IntegerTile, Popcount)
/// How many leading bits are 0; the width for 0.
NEREID_UNARY(clz, IntegerTile, Clz)
#undef NEREID_FLOAT_UNARY
#undef NEREID_UNARY

#define NEREID_BINARY(function, concept_name, opcode)                                                        \
  template <class A, class B>                                                                                \
    requires detail::OneElement<A, B> && concept_name<detail::CommonElement<A, B>>                           \
  Tile<detail::CommonElement<A, B>> function(const A &a, const B &b, Where where = Where::current()) {       \
    using T = detail::CommonElement<A, B>;                                                                   \
    return detail::binary<T>(ir::Opcode::opcode, detail::operand<T>(a, where),                               \
                             detail::operand<T>(b, where));                                                  \
  }
/// One that f64 does not have.
#define NEREID_FLOAT_BINARY(function, opcode)                                                                \
  NEREID_BINARY(function, FloatElement, opcode)                                                              \
  template <class A, class B>                                                                                \
    requires detail::DoubleTile<A> || detail::DoubleTile<B>                                                  \
  detail::No_function_of_f64_convert_with_to_f32 function(const A &, const B &) = delete;
/// A NaN in either operand is the result.
NEREID_BINARY(min, NumericElement, Min)
NEREID_BINARY(max, NumericElement, Max)
/// The upper half of the product of 32-bit integers.
NEREID_BINARY(mulhi, IntegerElement, MulHi)
/// The quotient of integers rounded up, negative ones too; see dsl/ops/cdiv.h for the host's.
NEREID_BINARY(cdiv, IntegerElement, CeilDiv)
/// a^b, with the special cases of C's pow.
NEREID_FLOAT_BINARY(pow, Pow)
/// The angle of the point (b, a) in radians, -pi to pi, as C's atan2.
NEREID_FLOAT_BINARY(atan2, Atan2)
/// The exact remainder of a / b with a's sign, as C's fmod.
NEREID_FLOAT_BINARY(fmod, Fmod)
#undef NEREID_FLOAT_BINARY
#undef NEREID_BINARY

/// min(max(x, low), high)
template <class X, class L, class H>
  requires detail::OneElement<X, L, H> && NumericElement<detail::CommonElement<X, L, H>>
Tile<detail::CommonElement<X, L, H>> clamp(const X &x, const L &low, const H &high,
                                           Where where = Where::current()) {
  using T = detail::CommonElement<X, L, H>;
  return nereid::min(nereid::max(detail::as_tile<T>(x, where), low, where), high, where);
}

/// a * b + c with one rounding.
template <class A, class B, class C>
  requires detail::OneElement<A, B, C> && RealElement<detail::CommonElement<A, B, C>>
Tile<detail::CommonElement<A, B, C>> fma(const A &a, const B &b, const C &c, Where where = Where::current()) {
  using T = detail::CommonElement<A, B, C>;
  detail::Operand<T> x(a, where), y(b, where), z(c, where);
  return detail::make<T>(detail::at(where).fma(x.id(), y.id(), z.id()));
}

/// a where the condition holds, else b. Both are evaluated.
template <class A, class B>
  requires detail::OneElement<A, B>
Tile<detail::CommonElement<A, B>> where(const detail::Operand<i1> &condition, const A &a, const B &b,
                                        Where location = Where::current()) {
  using T = detail::CommonElement<A, B>;
  detail::Operand<T> x(a, location), y(b, location);
  return detail::make<T>(detail::at(location).where(condition.id(), x.id(), y.id()));
}

/// The same of two C++ numbers: of the element that C++ gives their sum.
template <detail::Number A, detail::Number B>
  requires detail::OneNumber<A, B>
auto where(const detail::Operand<i1> &condition, A a, B b, Where location = Where::current()) {
  using T = detail::NumberElement<A, B>;
  return nereid::where(condition, detail::as_tile<T>(a, location), b, location);
}

/// 1 where x is a NaN, of x's shape.
template <detail::RealTile X> Tile<i1> isnan(const X &x, Where where = Where::current()) {
  const ir::ValueId id = detail::id_of(x);
  return detail::make<i1>(detail::at(where).binary(ir::Opcode::Ne, id, id));
}
template <detail::RealTile X> Tile<i1> isinf(const X &x, Where where = Where::current()) {
  using Operand = detail::Operand<detail::ElementOf<X>>;
  return detail::compare(ir::Opcode::Eq, Operand(abs(x, where), where),
                         Operand(std::numeric_limits<float>::infinity(), where));
}

/// The magnitude of a with the sign bit of b, NaNs too.
template <class A, class B>
  requires detail::OneElement<A, B> && RealElement<detail::CommonElement<A, B>>
Tile<detail::CommonElement<A, B>> copysign(const A &a, const B &b, Where where = Where::current()) {
  using T = detail::CommonElement<A, B>;
  using Bits = std::conditional_t<sizeof(T) == 8, u64, std::conditional_t<sizeof(T) == 4, u32, u16>>;
  constexpr Bits sign = Bits{1} << (8 * sizeof(T) - 1);
  const detail::Operand<T> x(a, where), y(b, where);
  ir::Builder &builder = detail::at(where);
  const auto part = [&](ir::ValueId id, Bits mask) {
    return builder.binary(ir::Opcode::And, builder.bitcast(id, element_of<Bits>),
                          detail::constant_of(where, element_of<Bits>, mask));
  };
  const ir::ValueId magnitude = part(x.id(), static_cast<Bits>(sign - 1));
  const ir::ValueId joined = builder.binary(ir::Opcode::Or, magnitude, part(y.id(), sign));
  return detail::make<T>(builder.bitcast(joined, element_of<T>));
}

/// The number of the lowest bit that is 1, counted from 1; 0 for 0.
template <detail::IntegerTile X> Tile<detail::ElementOf<X>> ffs(const X &x, Where where = Where::current()) {
  using T = detail::ElementOf<X>;
  const detail::Operand<T> bits(static_cast<int>(8 * sizeof(T)), where);
  ir::Builder &builder = detail::at(where);
  const ir::ValueId id = detail::id_of(x);
  const ir::ValueId lowest = builder.binary(ir::Opcode::And, id, builder.unary(ir::Opcode::Neg, id));
  return detail::make<T>(builder.binary(ir::Opcode::Sub, bits.id(), builder.unary(ir::Opcode::Clz, lowest)));
}

/// Conversion of values. Integers to integers wrap; to floats all round once, to nearest even. A float to an
/// integer truncates, and saturates to u32, i64 and u64; to i32 and all narrower ones it saturates to i32,
/// then wraps. A NaN gives 0. Anything to i1 is x != 0. What rounds to more than the largest number of a
/// float is infinite, in fp8 a NaN.
template <ElementType U, detail::TileLike X> Tile<U> cast(const X &x, Where where = Where::current()) {
  return detail::make<U>(detail::at(where).cast(detail::id_of(x), element_of<U>));
}

/// The same bits as another element type of the same width.
template <ElementType U, detail::TileLike X>
  requires(sizeof(U) == sizeof(detail::ElementOf<X>)) &&
          (std::same_as<U, i1> == std::same_as<detail::ElementOf<X>, i1>)
Tile<U> bitcast(const X &x, Where where = Where::current()) {
  return detail::make<U>(detail::at(where).bitcast(detail::id_of(x), element_of<U>));
}

/// v_cvt_scalef32_pk_*: two f32 values, each divided by the power of two `scale`, to packed codes: u8 for
/// e2m1 (even in the low nibble), u16 for e4m3 and e5m2 (even in the low byte).
template <ir::Format F, detail::ArgumentFor<f32> A, detail::ArgumentFor<f32> B, detail::ArgumentFor<f32> S>
  requires(F == ir::Format::E2M1 || F == ir::Format::E4M3 || F == ir::Format::E5M2)
auto cvt_scaled(const A &even, const B &odd, const S &scale, Where where = Where::current()) {
  using Codes = std::conditional_t<F == ir::Format::E2M1, u8, u16>;
  detail::Operand<f32> x(even, where), y(odd, where), s(scale, where);
  return detail::make<Codes>(detail::at(where).cvt_scaled(F, x.id(), y.id(), s.id()));
}

namespace detail {

/// Element bits to a C++ value and back, for the host meaning of inline assembly.
template <ElementType T> T from_bits(uint64_t bits) {
  if constexpr (std::same_as<T, i1>)
    return i1(bits != 0);
  else if constexpr (std::same_as<T, f32>)
    return std::bit_cast<f32>(static_cast<uint32_t>(bits));
  else if constexpr (std::same_as<T, f64>)
    return std::bit_cast<f64>(bits);
  else if constexpr (FloatElement<T> || SmallFloatElement<T>)
    return T::from_bits(static_cast<decltype(T::bits)>(bits));
  else
    return static_cast<T>(bits);
}
template <ElementType T> uint64_t to_bits(T value) {
  if constexpr (std::same_as<T, i1>)
    return value.value;
  else if constexpr (std::same_as<T, f32>)
    return std::bit_cast<uint32_t>(value);
  else if constexpr (std::same_as<T, f64>)
    return std::bit_cast<uint64_t>(value);
  else if constexpr (FloatElement<T> || SmallFloatElement<T>)
    return value.bits;
  else
    return static_cast<std::make_unsigned_t<T>>(value);
}

template <class R, class... T, class F, size_t... I>
ir::HostFunction host_function(F function, std::index_sequence<I...>) {
  return [function](const std::vector<uint64_t> &bits) {
    return to_bits<R>(static_cast<R>(function(from_bits<T>(bits[I])...)));
  };
}

/// The text of an inline assembly with the location of its use.
struct AsmText {
  AsmText(const char *text, Where where = Where::current()) : text(text), where(where) {}
  AsmText(std::string text, Where where = Where::current()) : text(std::move(text)), where(where) {}
  std::string text;
  Where where;
};

} // namespace detail

/// One machine instruction (or more) for each element: LLVM's operand syntax, `constraints` as "=v,v,v". The
/// function `host` is its meaning: it takes the operands' elements and returns an R; pass nullptr when there
/// is none, and the interpreter will refuse. The assembly must be pure.
template <ElementType R, class Host, class... X>
  requires((detail::TileLike<X> || detail::Number<X>) && ...)
Tile<R> inline_asm(const detail::AsmText &text, const std::string &constraints, Host host, const X &...x) {
  ir::HostFunction meaning;
  if constexpr (!std::same_as<Host, std::nullptr_t>) {
    static_assert(std::is_invocable_v<Host, detail::ArgumentElement<X>...>,
                  "the host function of inline_asm takes one element of each operand");
    meaning = detail::host_function<R, detail::ArgumentElement<X>...>(host, std::index_sequence_for<X...>{});
  }
  const std::vector<ir::ValueId> operands{detail::argument_id(x, text.where)...};
  return detail::make<R>(
      detail::at(text.where).inline_asm(element_of<R>, text.text, constraints, std::move(meaning), operands));
}

} // namespace nereid
