#pragma once

#include <functional>
#include <tuple>

#include "dsl/ops/common.h"

/// Products of matrices and the microscaling formats.
namespace nereid {

using detail::Where;
using ir::Format;
using ir::ScaleRule;

/// The formats of dot_scaled and quantize (formats.def).
inline constexpr Format e2m1 = Format::E2M1;
inline constexpr Format e2m3 = Format::E2M3;
inline constexpr Format e3m2 = Format::E3M2;
inline constexpr Format e4m3 = Format::E4M3;
inline constexpr Format e5m2 = Format::E5M2;

/// How dot multiplies f32, which no fast matrix instruction does: in bf16 parts, the sums in f32. The error
/// of a sum is that of its f32 additions and, for each product a * b, at most
enum class DotPrecision : uint8_t {
  Bf16x3, ///< 2^-16 abs(a * b): three products
  Bf16x6, ///< 2^-25 abs(a * b), less than f32 rounds: six products
};

namespace detail {
template <class X>
concept HalfTile = FloatTile<X> && !std::same_as<ElementOf<X>, f32>;
template <class X>
concept ByteTile = TileLike<X> && std::same_as<ElementOf<X>, u8>;
template <class X>
concept SmallFloatTile = TileLike<X> && SmallFloatElement<ElementOf<X>>;
/// Packed codes of a microscaling format; fp8 holds those of e4m3, bf8 those of e5m2.
template <class X>
concept CodeTile = ByteTile<X> || SmallFloatTile<X>;
template <class X>
concept SingleTile = TileLike<X> && std::same_as<ElementOf<X>, f32>;

template <class X>
concept SignedByteTile = TileLike<X> && std::same_as<ElementOf<X>, i8>;

template <CodeTile C, ByteTile S>
ir::Builder::ScaledOperand scaled(const C &codes, const S &scales, Format format) {
  return {id_of(codes), id_of(scales), format};
}
template <HalfTile X> ir::Builder::ScaledOperand unscaled(const X &x) {
  return {id_of(x), {}, std::same_as<ElementOf<X>, bf16> ? Format::BF16 : Format::F16};
}

/// One product of matrices, as values of the builder.
using Product = std::function<ir::ValueId(ir::ValueId a, ir::ValueId b)>;
/// The product of matrices, or of each pair of matrices of two batches: [B, M, K] by [B, K, N] is [B, M, N].
ir::ValueId multiply(ir::Builder &builder, ir::ValueId a, ir::ValueId b, const Product &product);
/// The product of microscaled matrices, or of each pair of matrices of two batches.
ir::ValueId multiply_scaled(ir::Builder &builder, const ir::Builder::ScaledOperand &a,
                            const ir::Builder::ScaledOperand &b);
/// The product of f32 matrices.
ir::ValueId dot_of_parts(ir::Builder &builder, ir::ValueId a, ir::ValueId b, DotPrecision precision);
} // namespace detail

/// a [M, K] times b [K, N] to [M, N]. Both bf16, both f16, or each fp8 or bf8: summed in f32. Both i8: in i32
/// that wraps. A batch of such products: [B, M, K] by [B, K, N] to [B, M, N], where B is a power of two.
template <detail::TileLike A, detail::TileLike B>
  requires(std::same_as<detail::ElementOf<A>, detail::ElementOf<B>> &&
           (detail::HalfTile<A> || detail::SignedByteTile<A>)) ||
          (detail::SmallFloatTile<A> && detail::SmallFloatTile<B>)
auto dot(const A &a, const B &b, Where where = Where::current()) {
  using Sum = std::conditional_t<detail::SignedByteTile<A>, i32, f32>;
  ir::Builder &builder = detail::at(where);
  return detail::make<Sum>(detail::multiply(builder, detail::id_of(a), detail::id_of(b),
                                            [&](ir::ValueId x, ir::ValueId y) { return builder.dot(x, y); }));
}

/// The same of f32, in parts. An operand that is infinite, NaN or above the largest bf16 makes its results
/// NaN; parts below 2^-126 may count as 0.
template <detail::SingleTile A, detail::SingleTile B>
Tile<f32> dot(const A &a, const B &b, DotPrecision precision = DotPrecision::Bf16x6,
              Where where = Where::current()) {
  ir::Builder &builder = detail::at(where);
  return detail::make<f32>(
      detail::multiply(builder, detail::id_of(a), detail::id_of(b), [&](ir::ValueId x, ir::ValueId y) {
        return detail::dot_of_parts(builder, x, y, precision);
      }));
}

template <detail::TileLike A, detail::TileLike B>
  requires detail::DoubleTile<A> || detail::DoubleTile<B>
detail::No_function_of_f64_convert_with_to_f32 dot(const A &a, const B &b) = delete;

/// Codes a [M, K] times b [K, N] of e4m3 or e5m2, without scales, summed in f32: [M, N]. Batches as above.
template <detail::CodeTile A, detail::CodeTile B>
Tile<f32> dot(const A &a, Format format_a, const B &b, Format format_b, Where where = Where::current()) {
  ir::Builder &builder = detail::at(where);
  return detail::make<f32>(
      detail::multiply(builder, detail::id_of(a), detail::id_of(b),
                       [&](ir::ValueId x, ir::ValueId y) { return builder.dot(x, format_a, y, format_b); }));
}

/// Product of microscaled matrices, f32 [M, N]: codes a u8 [M, K*bits/8] and b u8 [K*bits/8, N] packed along
/// K, e8m0 scales u8 [M, K/32] and [N, K/32]. Codes of e4m3 may be fp8, those of e5m2 bf8. One side may be a
/// bf16 or f16 tile without scales. With one more dimension before in each, of a power of two, a batch of
/// such products: f32 [B, M, N].
template <detail::CodeTile A, detail::ByteTile SA, detail::CodeTile B, detail::ByteTile SB>
Tile<f32> dot_scaled(const A &a, const SA &scale_a, Format format_a, const B &b, const SB &scale_b,
                     Format format_b, Where where = Where::current()) {
  return detail::make<f32>(detail::multiply_scaled(detail::at(where), detail::scaled(a, scale_a, format_a),
                                                   detail::scaled(b, scale_b, format_b)));
}
template <detail::HalfTile A, detail::CodeTile B, detail::ByteTile SB>
Tile<f32> dot_scaled(const A &a, const B &b, const SB &scale_b, Format format_b,
                     Where where = Where::current()) {
  return detail::make<f32>(
      detail::multiply_scaled(detail::at(where), detail::unscaled(a), detail::scaled(b, scale_b, format_b)));
}
template <detail::CodeTile A, detail::ByteTile SA, detail::HalfTile B>
Tile<f32> dot_scaled(const A &a, const SA &scale_a, Format format_a, const B &b,
                     Where where = Where::current()) {
  return detail::make<f32>(
      detail::multiply_scaled(detail::at(where), detail::scaled(a, scale_a, format_a), detail::unscaled(b)));
}

/// A microscaled matrix [K, N], or a batch of them, the right operand of dot_scaled; see MxTile::transposed.
struct MxTransposed {
  Tile<u8> codes;  ///< [K*bits/8, N], packed along K
  Tile<u8> scales; ///< e8m0, [N, K/32]
  Format format;
};

/// A microscaled tile: codes with their scales and format. Also as a pair: `auto [codes, scales] = tile`.
struct MxTile {
  Tile<u8> codes;  ///< [..., K*bits/8], packed along K
  Tile<u8> scales; ///< e8m0, [..., K/32]
  Format format;

  /// Of a tile [N, K] or [B, N, K]; of another rank an error.
  MxTransposed transposed(Where where = Where::current()) const;
  template <size_t I> const Tile<u8> &get() const {
    if constexpr (I == 0)
      return codes;
    else
      return scales;
  }
};
/// What quantize gives.
using Quantized = MxTile;

/// x [..., K] to a microscaling format, a scale for each 32 values along the last axis; K % 32 = 0.
template <detail::FloatTile X>
MxTile quantize(const X &x, Format format, ScaleRule rule = ScaleRule::Even, Where where = Where::current()) {
  auto [codes, scales] = detail::at(where).quantize(detail::id_of(x), format, rule);
  return {detail::make<u8>(codes), detail::make<u8>(scales), format};
}

template <detail::DoubleTile X>
detail::No_function_of_f64_convert_with_to_f32 quantize(const X &x, Format format,
                                                        ScaleRule rule = ScaleRule::Even) = delete;

/// a [M, K] times b [K, N], f32 [M, N]; also batches. One side may be a bf16 or f16 tile.
inline Tile<f32> dot_scaled(const MxTile &a, const MxTransposed &b, Where where = Where::current()) {
  return dot_scaled(a.codes, a.scales, a.format, b.codes, b.scales, b.format, where);
}
template <detail::HalfTile A>
Tile<f32> dot_scaled(const A &a, const MxTransposed &b, Where where = Where::current()) {
  return dot_scaled(a, b.codes, b.scales, b.format, where);
}
template <detail::HalfTile B>
Tile<f32> dot_scaled(const MxTile &a, const B &b, Where where = Where::current()) {
  return dot_scaled(a.codes, a.scales, a.format, b, where);
}
namespace detail {
class The_right_operand_of_dot_scaled_is_transposed;
}
/// Scales run along K: the right operand is b.transposed() of a tile [N, K].
template <class A>
  requires std::same_as<A, MxTile> || detail::HalfTile<A>
detail::The_right_operand_of_dot_scaled_is_transposed dot_scaled(const A &a, const MxTile &b) = delete;

} // namespace nereid

template <> struct std::tuple_size<nereid::MxTile> : std::integral_constant<size_t, 2> {};
template <size_t I> struct std::tuple_element<I, nereid::MxTile> {
  using type = const nereid::Tile<nereid::u8>;
};
