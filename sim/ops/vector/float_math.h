#pragma once

// Rules of the float units that several widths share.

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <type_traits>

#include "sim/ops/vector/lanes.h"

namespace nereid::sim {

template <class T> using BitsOf = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

inline float flush_denormal(float value) {
  return std::fabs(value) < 0x1p-126f ? std::copysign(0.0f, value) : value;
}

/// Makes a signalling NaN quiet.
template <class T> T quieted(T value) {
  constexpr BitsOf<T> quiet = BitsOf<T>{1} << (sizeof(T) == 8 ? 51 : 22);
  return value == value ? value
                        : std::bit_cast<T>(static_cast<BitsOf<T>>(std::bit_cast<BitsOf<T>>(value) | quiet));
}

/// Of two equal values the one with (or without) the sign: -0 is below +0.
template <class T> T smaller_of_equal(T a, T b) {
  return std::bit_cast<T>(static_cast<BitsOf<T>>(std::bit_cast<BitsOf<T>>(a) | std::bit_cast<BitsOf<T>>(b)));
}
template <class T> T larger_of_equal(T a, T b) {
  return std::bit_cast<T>(static_cast<BitsOf<T>>(std::bit_cast<BitsOf<T>>(a) & std::bit_cast<BitsOf<T>>(b)));
}

template <class T> bool is_signalling(T value) {
  constexpr BitsOf<T> quiet = BitsOf<T>{1} << (sizeof(T) == 8 ? 51 : 22);
  return value != value && !(std::bit_cast<BitsOf<T>>(value) & quiet);
}

/// The smaller (larger) value; of a number and a NaN the number, but in IEEE mode a signalling NaN wins and
/// becomes quiet.
template <class T, bool Ieee = true> T quiet_min(T a, T b) {
  T result = a == b ? smaller_of_equal(a, b) : (a < b ? a : b);
  result = b != b ? a : result;
  result = a != a ? b : result;
  if constexpr (Ieee) {
    result = is_signalling(b) ? b : result;
    result = quieted(is_signalling(a) ? a : result);
  }
  return result;
}
template <class T, bool Ieee = true> T quiet_max(T a, T b) {
  T result = a == b ? larger_of_equal(a, b) : (a > b ? a : b);
  result = b != b ? a : result;
  result = a != a ? b : result;
  if constexpr (Ieee) {
    result = is_signalling(b) ? b : result;
    result = quieted(is_signalling(a) ? a : result);
  }
  return result;
}
/// The middle one of three values; with a NaN the least.
template <class T, bool Ieee = true> T median(T a, T b, T c) {
  if (a != a || b != b || c != c)
    return quiet_min<T, Ieee>(quiet_min<T, Ieee>(a, b), c);
  T low = quiet_min<T, Ieee>(a, b), high = quiet_max<T, Ieee>(a, b);
  return quiet_max<T, Ieee>(low, quiet_min<T, Ieee>(high, c));
}

/// The smaller (larger) value; NaN when either is one.
template <class T> T propagating_min(T a, T b) {
  T result = a == b ? smaller_of_equal(a, b) : (a < b ? a : b);
  result = b != b ? b : result;
  return quieted(a != a ? a : result);
}
template <class T> T propagating_max(T a, T b) {
  T result = a == b ? larger_of_equal(a, b) : (a > b ? a : b);
  result = b != b ? b : result;
  return quieted(a != a ? a : result);
}

/// Rounds to an integer, ties to even, whatever the mode is.
template <class T> T round_half_even(T value) {
  constexpr T whole = sizeof(T) == 8 ? T(0x1p52) : T(0x1p23);
  if (!(std::fabs(value) < whole))
    return value;
  T below = std::floor(value), rest = value - below;
  bool odd = below * T(0.5) != std::floor(below * T(0.5));
  T result = rest > T(0.5) || (rest == T(0.5) && odd) ? below + T(1) : below;
  return std::copysign(result, value);
}

/// The float nearest to a double, or the odd neighbour where it is not exact: rounding on to f16 or bf16, in
/// any direction, gives what rounding the double once would.
inline float odd_float(double value) {
  const float nearest = static_cast<float>(value);
  const double back = static_cast<double>(nearest);
  const bool exact = back == value || !(std::fabs(back) < std::numeric_limits<double>::infinity());
  const uint32_t bits = std::bit_cast<uint32_t>(nearest), away = std::fabs(back) > std::fabs(value);
  return std::bit_cast<float>(exact ? bits : (bits - away) | 1);
}

/// a * b + c of halves, to be rounded to f16: product and, where rounding could tell, sum are exact in
/// double.
inline float fused_halves(float a, float b, float c) {
  return odd_float(static_cast<double>(a) * static_cast<double>(b) + static_cast<double>(c));
}

/// sin(2 pi t) and cos(2 pi t), exact at quarter turns.
struct QuarterTurn {
  unsigned quarter;
  double angle; ///< the rest, at most an eighth of a turn, in radians

  explicit QuarterTurn(double turns) {
    const double nearest = std::floor(4 * turns + 0.5);
    quarter = std::isfinite(nearest) ? static_cast<unsigned>(static_cast<int>(std::fmod(nearest, 4))) & 3 : 0;
    angle = 2 * std::numbers::pi * (turns - nearest / 4);
  }
};
inline double sine_of_turns(double turns) {
  const QuarterTurn turn(turns);
  const double value = turn.quarter & 1 ? std::cos(turn.angle) : std::sin(turn.angle);
  return turn.quarter & 2 ? -value : value;
}
inline double cosine_of_turns(double turns) {
  const QuarterTurn turn(turns);
  const double value = turn.quarter & 1 ? -std::sin(turn.angle) : std::cos(turn.angle);
  return turn.quarter & 2 ? -value : value;
}

template <class T> bool is_denormal(T value) {
  return value != 0 && std::fabs(value) < std::numeric_limits<T>::min();
}
template <class T> int biased_exponent(T value) {
  constexpr int mantissa = std::numeric_limits<T>::digits - 1;
  return static_cast<int>(std::bit_cast<BitsOf<T>>(value) >> mantissa &
                          (sizeof(T) == 8 ? BitsOf<T>{0x7FF} : BitsOf<T>{0xFF}));
}

/// v_div_scale: moves numerator or denominator so that the division loop stays in range; the bit tells
/// div_fmas to undo it. `Large` is the exponent difference that endangers the quotient, `Step` the scaling,
/// `Tiny` the exponent of a numerator too small to refine. When both reciprocal and quotient are denormal the
/// description prints a scaling up of the denominator, which would overflow; only scaling down leaves a
/// usable division.
template <class T, int Large, int Step, int Tiny>
WithMask<T> scale_for_division(T value, T denominator, T numerator) {
  bool is_denominator = value == denominator, is_numerator = value == numerator;
  if (numerator == 0 || denominator == 0)
    return {std::numeric_limits<T>::quiet_NaN(), false};
  bool reciprocal_denormal = is_denormal(T(1) / denominator),
       quotient_denormal = is_denormal(numerator / denominator);
  if (biased_exponent(numerator) - biased_exponent(denominator) >= Large)
    return {is_denominator ? std::ldexp(value, Step) : value, true};
  if (is_denormal(denominator))
    return {std::ldexp(value, Step), false};
  if (reciprocal_denormal && quotient_denormal)
    return {is_denominator ? std::ldexp(value, -Step) : value, true};
  if (reciprocal_denormal)
    return {std::ldexp(value, -Step), false};
  if (quotient_denormal)
    return {is_numerator ? std::ldexp(value, Step) : value, true};
  if (biased_exponent(numerator) <= Tiny)
    return {std::ldexp(value, Step), false};
  return {value, false};
}

/// v_div_fixup: special cases of a division and the sign of its result.
template <class T, int Underflow> T fix_division(T quotient, T denominator, T numerator) {
  T sign = std::copysign(T(1), denominator) * std::copysign(T(1), numerator);
  T infinity = std::numeric_limits<T>::infinity();
  if (std::isnan(numerator))
    return quieted(numerator);
  if (std::isnan(denominator))
    return quieted(denominator);
  if ((numerator == 0 && denominator == 0) || (std::isinf(numerator) && std::isinf(denominator)))
    return -std::numeric_limits<T>::quiet_NaN();
  if (denominator == 0 || std::isinf(numerator))
    return sign * infinity;
  if (std::isinf(denominator) || numerator == 0)
    return std::copysign(T(0), sign);
  if (biased_exponent(numerator) - biased_exponent(denominator) < Underflow)
    return std::copysign(T(0), sign);
  // The refinement of a quotient that overflows subtracts infinities: with ordinary operands NaN stands for
  // that.
  return std::isnan(quotient) ? sign * infinity : std::copysign(quotient, sign);
}

} // namespace nereid::sim
