#pragma once

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

namespace detail {
template <class X>
concept HalfTile = FloatTile<X> && !std::same_as<ElementOf<X>, f32>;
template <class X>
concept ByteTile = TileLike<X> && std::same_as<ElementOf<X>, u8>;

template <class X>
concept SignedByteTile = TileLike<X> && std::same_as<ElementOf<X>, i8>;

template <ByteTile C, ByteTile S>
ir::Builder::ScaledOperand scaled(const C &codes, const S &scales, Format format) {
  return {id_of(codes), id_of(scales), format};
}
template <HalfTile X> ir::Builder::ScaledOperand unscaled(const X &x) {
  return {id_of(x), {}, std::same_as<ElementOf<X>, bf16> ? Format::BF16 : Format::F16};
}
} // namespace detail

/// a [M, K] times b [K, N], both bf16 or both f16, summed in f32: [M, N].
template <detail::HalfTile A, detail::HalfTile B>
  requires std::same_as<detail::ElementOf<A>, detail::ElementOf<B>>
Tile<f32> dot(const A &a, const B &b, Where where = Where::current()) {
  return detail::make<f32>(detail::at(where).dot(detail::id_of(a), detail::id_of(b)));
}

/// a [M, K] times b [K, N] of i8, summed in i32 that wraps: [M, N].
template <detail::SignedByteTile A, detail::SignedByteTile B>
Tile<i32> dot(const A &a, const B &b, Where where = Where::current()) {
  return detail::make<i32>(detail::at(where).dot(detail::id_of(a), detail::id_of(b)));
}

/// Codes u8 a [M, K] times b [K, N] of e4m3 or e5m2, without scales, summed in f32: [M, N].
template <detail::ByteTile A, detail::ByteTile B>
Tile<f32> dot(const A &a, Format format_a, const B &b, Format format_b, Where where = Where::current()) {
  return detail::make<f32>(detail::at(where).dot(detail::id_of(a), format_a, detail::id_of(b), format_b));
}

/// Product of microscaled matrices, f32 [M, N]: codes a u8 [M, K*bits/8] and b u8 [K*bits/8, N] packed along
/// K, e8m0 scales u8 [M, K/32] and [N, K/32]. One side may be a bf16 or f16 tile without scales.
template <detail::ByteTile A, detail::ByteTile SA, detail::ByteTile B, detail::ByteTile SB>
Tile<f32> dot_scaled(const A &a, const SA &scale_a, Format format_a, const B &b, const SB &scale_b,
                     Format format_b, Where where = Where::current()) {
  return detail::make<f32>(detail::at(where).dot_scaled(detail::scaled(a, scale_a, format_a),
                                                        detail::scaled(b, scale_b, format_b)));
}
template <detail::HalfTile A, detail::ByteTile B, detail::ByteTile SB>
Tile<f32> dot_scaled(const A &a, const B &b, const SB &scale_b, Format format_b,
                     Where where = Where::current()) {
  return detail::make<f32>(
      detail::at(where).dot_scaled(detail::unscaled(a), detail::scaled(b, scale_b, format_b)));
}
template <detail::ByteTile A, detail::ByteTile SA, detail::HalfTile B>
Tile<f32> dot_scaled(const A &a, const SA &scale_a, Format format_a, const B &b,
                     Where where = Where::current()) {
  return detail::make<f32>(
      detail::at(where).dot_scaled(detail::scaled(a, scale_a, format_a), detail::unscaled(b)));
}

/// What quantize gives: codes u8 [..., K*bits/8] and e8m0 scales u8 [..., K/32].
struct Quantized {
  Tile<u8> codes;
  Tile<u8> scales;
};

/// x [..., K] to a microscaling format, a scale for each 32 values along the last axis; K % 32 = 0.
template <detail::FloatTile X>
Quantized quantize(const X &x, Format format, ScaleRule rule = ScaleRule::Even,
                   Where where = Where::current()) {
  auto [codes, scales] = detail::at(where).quantize(detail::id_of(x), format, rule);
  return {detail::make<u8>(codes), detail::make<u8>(scales)};
}

} // namespace nereid
