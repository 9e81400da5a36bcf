#pragma once

#include <cstdint>
#include <type_traits>

namespace nereid::sim {

/// Columns of a truth table: bit 4a + 2b + c of each is the operand in that row.
inline constexpr uint8_t table_a = 0xF0, table_b = 0xCC, table_c = 0xAA;

namespace detail {

template <auto F, class R, class... A> constexpr uint8_t table_of(R (*)(A...)) {
  constexpr uint8_t columns[] = {table_a, table_b, table_c};
  return [&]<size_t... I>(std::index_sequence<I...>) {
    return static_cast<uint8_t>(F(static_cast<A>(columns[I])...));
  }(std::index_sequence_for<A...>());
}

} // namespace detail

/// The truth table of a function of one to three words that works bit by bit: what it makes of the columns.
template <auto F> inline constexpr uint8_t truth_table = detail::table_of<F>(+F);

} // namespace nereid::sim
