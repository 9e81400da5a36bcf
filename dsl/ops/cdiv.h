#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <source_location>

namespace nereid {

namespace detail {
/// Throw a TraceError at the location. No constant expressions: there the compiler names them.
[[noreturn]] void cdiv_by_zero(std::source_location where);
[[noreturn]] void cdiv_does_not_fit(std::source_location where);

constexpr uint64_t magnitude(std::integral auto value) {
  return value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
}

template <class T>
concept HostInteger = std::integral<T> && !std::same_as<T, bool>;
} // namespace detail

/// The quotient of two C++ integers rounded up: the smallest number of pieces of size b that cover a. It has
/// the type of a / b and is exact for all operands, negative ones and mixed signs too. A zero divisor, and a
/// quotient that this type does not hold, do not compile in a constant expression and else throw a
/// TraceError: while a kernel is traced that is its error, with the line.
template <detail::HostInteger A, detail::HostInteger B>
constexpr auto cdiv(A a, B b, std::source_location where = std::source_location::current()) {
  using Quotient = decltype(a / b);
  if (b == 0)
    detail::cdiv_by_zero(where);
  const uint64_t x = detail::magnitude(a), y = detail::magnitude(b);
  const bool negative = (a < 0) != (b < 0);
  const uint64_t quotient = x / y + (!negative && x % y != 0);
  constexpr auto max = static_cast<uint64_t>(std::numeric_limits<Quotient>::max());
  if (quotient > max + (negative && std::is_signed_v<Quotient>) ||
      (negative && quotient != 0 && !std::is_signed_v<Quotient>))
    detail::cdiv_does_not_fit(where);
  return static_cast<Quotient>(negative ? 0 - quotient : quotient);
}

} // namespace nereid
