#pragma once

#include <span>
#include <string_view>

#include "sim/ops/vector/lanes.h"

namespace nereid::sim {

/// What a load or store moves for one lane; the same list serves global, flat, scratch and buffer forms.
struct Access {
  std::string_view suffix;
  uint8_t bytes;    ///< in memory
  uint8_t words;    ///< registers
  bool sign_extend; ///< of a load shorter than a word
  bool half;        ///< a 16-bit register half is written or read, the other half of a load is kept
  bool high;        ///< that half is the upper one
};

inline constexpr Access loads[] = {
    {"ubyte", 1, 1, false, false, false},    {"sbyte", 1, 1, true, false, false},
    {"ushort", 2, 1, false, false, false},   {"sshort", 2, 1, true, false, false},
    {"dword", 4, 1, false, false, false},    {"dwordx2", 8, 2, false, false, false},
    {"dwordx3", 12, 3, false, false, false}, {"dwordx4", 16, 4, false, false, false},
    {"ubyte_d16", 1, 1, false, true, false}, {"ubyte_d16_hi", 1, 1, false, true, true},
    {"sbyte_d16", 1, 1, true, true, false},  {"sbyte_d16_hi", 1, 1, true, true, true},
    {"short_d16", 2, 1, false, true, false}, {"short_d16_hi", 2, 1, false, true, true},
};

inline constexpr Access stores[] = {
    {"byte", 1, 1, false, false, false},      {"short", 2, 1, false, false, false},
    {"dword", 4, 1, false, false, false},     {"dwordx2", 8, 2, false, false, false},
    {"dwordx3", 12, 3, false, false, false},  {"dwordx4", 16, 4, false, false, false},
    {"byte_d16_hi", 1, 1, false, true, true}, {"short_d16_hi", 2, 1, false, true, true},
};

/// What a load of less than a word makes of its bytes: zero or sign extension.
uint32_t extended(const Access &access, const std::byte *bytes);
/// A lane's value of 4 or 8 bytes in the registers from `first` on.
inline uint64_t lane_value(const Wave &wave, unsigned first, unsigned lane, unsigned bytes) {
  uint64_t value = wave.vgpr[first].word[lane];
  return bytes == 8 ? value | uint64_t{wave.vgpr[first + 1].word[lane]} << 32 : value;
}

/// Puts what was loaded for a lane into the registers from `first` on.
void put_loaded(Wave &wave, unsigned first, unsigned lane, const Access &access, const std::byte *bytes);
/// Collects what a lane stores.
void take_stored(const Wave &wave, unsigned first, unsigned lane, const Access &access, std::byte *bytes);

/// Read-modify-write operations: the new value from the old one and the operand. `bits` is 32 or 64.
struct AtomicAccess {
  std::string_view name; ///< in global and buffer mnemonics
  uint8_t bytes;
  bool is_float;
  bool compares; ///< cmpswap: the data is {new, expected}
  uint64_t (*apply)(uint64_t old, uint64_t operand);
};

/// The list of global atomics (add, add_x2, ...).
std::span<const AtomicAccess> global_atomics();

/// Performs an atomic on host memory (aligned) and returns the old value.
uint64_t perform_atomic(const AtomicAccess &access, std::byte *at, uint64_t operand, uint64_t expected);
/// The same for a lane, with operands from the instruction's data registers.
uint64_t perform_atomic(const Wave &wave, const AtomicAccess &access, const Instruction &instruction,
                        unsigned lane, std::byte *at);

} // namespace nereid::sim
