#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <string>

#include "sim/state/effects.h"
#include "sim/state/wave.h"

namespace nereid::sim {

/// A set of registers: vector registers by their number (accumulation registers from 256 on), then scalar
/// ones.
class RegisterSet {
public:
  static constexpr unsigned size = vector_registers + scalar_registers;

  /// The number of a range's register `k` in a set; registers beyond the last are taken for the last.
  static unsigned number(const RegisterRange &range, unsigned k) {
    const unsigned count = range.vector ? vector_registers : scalar_registers;
    const unsigned index = std::min(range.first + k, count - 1);
    return range.vector ? index : vector_registers + index;
  }

  void add(unsigned number) { words_[number / 64] |= uint64_t{1} << number % 64; }
  void remove(unsigned number) { words_[number / 64] &= ~(uint64_t{1} << number % 64); }
  bool has(unsigned number) const { return words_[number / 64] >> number % 64 & 1; }
  void add(const RegisterRange &range) {
    for (unsigned k = 0; k < range.count; ++k)
      add(number(range, k));
  }
  bool overlaps(const RegisterSet &other) const {
    uint64_t common = 0;
    for (unsigned k = 0; k < words_.size(); ++k)
      common |= words_[k] & other.words_[k];
    return common != 0;
  }
  RegisterSet common(const RegisterSet &other) const {
    RegisterSet result;
    for (unsigned k = 0; k < words_.size(); ++k)
      result.words_[k] = words_[k] & other.words_[k];
    return result;
  }
  void remove(const RegisterSet &other) {
    for (unsigned k = 0; k < words_.size(); ++k)
      words_[k] &= ~other.words_[k];
  }
  /// The lowest register, or `size`.
  unsigned first() const {
    for (unsigned k = 0; k < words_.size(); ++k)
      if (words_[k])
        return 64 * k + static_cast<unsigned>(std::countr_zero(words_[k]));
    return size;
  }
  bool empty() const {
    uint64_t any = 0;
    for (uint64_t word : words_)
      any |= word;
    return any == 0;
  }

private:
  std::array<uint64_t, size / 64> words_{};
};

/// The assembler's name of a register of a set: v7, a12, s3, vcc_lo.
std::string register_name(unsigned number);

} // namespace nereid::sim
