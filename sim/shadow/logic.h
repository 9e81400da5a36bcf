#pragma once

#include <cstdint>

namespace nereid::sim {

/// Bits of a truth table's result that depend on unknown bits of its operands. Bit 4a + 2b + c of the table
/// is the result; `value` and `unknown` are the operands' words. With `same` the first two operands are one.
template <class Word> struct LogicOperands {
  Word value[3];
  Word unknown[3];
};

template <class Word>
inline Word unknown_bits(uint8_t table, const LogicOperands<Word> &operands, bool same) {
  Word zero = 0, one = 0;
  for (unsigned entry = 0; entry < 8; ++entry) {
    if (same && (entry >> 2 & 1) != (entry >> 1 & 1))
      continue;
    Word possible = ~Word{0};
    for (unsigned k = 0; k < 3; ++k) {
      const Word wanted = entry >> (2 - k) & 1 ? ~Word{0} : Word{0};
      possible &= operands.unknown[k] | ~(operands.value[k] ^ wanted);
    }
    (table >> entry & 1 ? one : zero) |= possible;
  }
  return zero & one;
}

/// The result of a truth table.
template <class Word> inline Word apply_table(uint8_t table, Word a, Word b, Word c) {
  Word result = 0;
  for (unsigned entry = 0; entry < 8; ++entry)
    if (table >> entry & 1)
      result |= (entry & 4 ? a : ~a) & (entry & 2 ? b : ~b) & (entry & 1 ? c : ~c);
  return result;
}

} // namespace nereid::sim
