#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace nereid::interpreter {

/// Arithmetic of the language on single elements.

/// The bits of an integer in a type whose arithmetic wraps; a negative number is huge.
template <class T> constexpr uint64_t widened(T value) { return static_cast<std::make_unsigned_t<T>>(value); }
/// The low bits of a result.
template <class T> constexpr T wrapped(uint64_t value) { return static_cast<T>(value); }

/// Truncates; 0 by 0 (a division by zero has no meaning); the lowest number by -1 wraps.
template <class T> T divide(T a, T b) {
  if (b == 0)
    return 0;
  if constexpr (std::is_signed_v<T>)
    if (b == -1)
      return wrapped<T>(0 - widened(a));
  return static_cast<T>(a / b);
}
template <class T> T remainder(T a, T b) {
  if (b == 0)
    return 0;
  if constexpr (std::is_signed_v<T>)
    if (b == -1)
      return 0;
  return static_cast<T>(a % b);
}

/// The quotient rounded up; else like divide.
template <class T> T ceil_divide(T a, T b) {
  const bool rounds_up = remainder(a, b) != 0 && (a < 0) == (b < 0);
  return static_cast<T>(divide(a, b) + rounds_up);
}

/// A NaN in either operand is the result, and -0 is less than +0.
template <class T> T maximum(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (a != a)
      return a;
    if (a == b)
      return std::signbit(a) ? b : a;
    return a > b ? a : b; // b when it is a NaN
  }
  return a > b ? a : b;
}
template <class T> T minimum(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (a != a)
      return a;
    if (a == b)
      return std::signbit(a) ? a : b;
    return a < b ? a : b;
  }
  return a < b ? a : b;
}

/// Saturates; NaN gives 0.
template <class T> T saturated(double value) {
  if (value != value)
    return 0;
  constexpr double upper = std::numeric_limits<T>::digits == 63   ? 0x1p63
                           : std::numeric_limits<T>::digits == 64 ? 0x1p64
                           : std::numeric_limits<T>::digits == 31 ? 0x1p31
                                                                  : 0x1p32;
  if (value >= upper)
    return std::numeric_limits<T>::max();
  if (value <= (std::is_signed_v<T> ? -upper : 0.0))
    return std::numeric_limits<T>::min();
  return static_cast<T>(value);
}

/// A float as an integer: saturates to 32 bits, or to those of a wider type, then keeps the low bits.
template <class T> T to_integer(double value) {
  if constexpr (sizeof(T) < 4)
    return static_cast<T>(saturated<int32_t>(value));
  else
    return saturated<T>(value);
}

} // namespace nereid::interpreter
