#pragma once

#include <array>
#include <numbers>

#include "dsl/ops/elementwise.h"

/// Random numbers as a function of a seed and a counter: Philox4x32 with ten rounds (Salmon, Moraes, Dror and
/// Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3", SC11). Key, counter and conversions to floats are
/// those of triton.language.random: one seed and offset give the same bits there. The seed is an integer
/// scalar or number, extended to 64 bits; the offset an integer tile, of which elements of 64 bits count
/// whole.
namespace nereid {

namespace detail {

template <class X>
concept IntegerArgument = IntegerTile<X> || (std::integral<X> && !std::same_as<X, bool>);

/// The words of the counters (offset, 0, 0, 0) with the key `seed`.
std::array<ir::ValueId, 4> philox(ir::Builder &builder, ir::ValueId seed, ir::ValueId offset);

/// A word as a number from 0 to below 1: its 31 bits below the sign, complemented where that is set, by
/// 2^-31.
Tile<f32> uniform(const Tile<u32> &word, Where where);

} // namespace detail

/// The four random words of each counter.
template <detail::IntegerArgument S, detail::IntegerTile X>
std::array<Tile<u32>, 4> randint4x(const S &seed, const X &offset, Where where = Where::current()) {
  const ir::ValueId key = detail::argument_id(seed, where);
  const auto words = detail::philox(detail::at(where), key, detail::id_of(offset));
  return {detail::make<u32>(words[0]), detail::make<u32>(words[1]), detail::make<u32>(words[2]),
          detail::make<u32>(words[3])};
}

/// A random word of each counter, all 2^32 alike.
template <detail::IntegerArgument S, detail::IntegerTile X>
Tile<u32> randint(const S &seed, const X &offset, Where where = Where::current()) {
  return randint4x(seed, offset, where)[0];
}

/// f32, uniform from 0 to below 1.
template <detail::IntegerArgument S, detail::IntegerTile X>
Tile<f32> rand(const S &seed, const X &offset, Where where = Where::current()) {
  return detail::uniform(randint(seed, offset, where), where);
}

/// f32, of the standard normal distribution, by the method of Box and Muller.
template <detail::IntegerArgument S, detail::IntegerTile X>
Tile<f32> randn(const S &seed, const X &offset, Where where = Where::current()) {
  const auto words = randint4x(seed, offset, where);
  const Tile<f32> radius = nereid::max(detail::uniform(words[0], where), 1e-7F, where);
  const Tile<f32> angle = detail::uniform(words[1], where) * static_cast<float>(2 * std::numbers::pi);
  return sqrt(log(radius, where) * -2.0F, where) * cos(angle, where);
}

} // namespace nereid
