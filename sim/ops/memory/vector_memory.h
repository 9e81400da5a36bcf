#pragma once

#include <span>
#include <string_view>

#include "sim/ops/vector/lanes.h"

namespace nereid::sim {

/// A form of loads or stores; the same lists serve global, flat, scratch and buffer instructions.
struct NamedElement {
  std::string_view suffix; ///< of the mnemonic
  ElementForm element;
};

inline constexpr NamedElement loads[] = {
    {"ubyte", {.bytes = 1}},
    {"sbyte", {.bytes = 1, .sign_extend = true}},
    {"ushort", {.bytes = 2}},
    {"sshort", {.bytes = 2, .sign_extend = true}},
    {"dword", {.bytes = 4}},
    {"dwordx2", {.bytes = 8, .words = 2}},
    {"dwordx3", {.bytes = 12, .words = 3}},
    {"dwordx4", {.bytes = 16, .words = 4}},
    {"ubyte_d16", {.bytes = 1, .half = true}},
    {"ubyte_d16_hi", {.bytes = 1, .half = true, .high = true}},
    {"sbyte_d16", {.bytes = 1, .sign_extend = true, .half = true}},
    {"sbyte_d16_hi", {.bytes = 1, .sign_extend = true, .half = true, .high = true}},
    {"short_d16", {.bytes = 2, .half = true}},
    {"short_d16_hi", {.bytes = 2, .half = true, .high = true}},
};

inline constexpr NamedElement stores[] = {
    {"byte", {.bytes = 1}},
    {"short", {.bytes = 2}},
    {"dword", {.bytes = 4}},
    {"dwordx2", {.bytes = 8, .words = 2}},
    {"dwordx3", {.bytes = 12, .words = 3}},
    {"dwordx4", {.bytes = 16, .words = 4}},
    {"byte_d16_hi", {.bytes = 1, .half = true, .high = true}},
    {"short_d16_hi", {.bytes = 2, .half = true, .high = true}},
};

inline constexpr ElementForm word_element{.bytes = 4};

/// What a load of less than a word makes of its bytes: zero or sign extension.
uint32_t extended(const ElementForm &element, const std::byte *bytes);
/// A lane's value of 4 or 8 bytes in the registers from `first` on.
inline uint64_t lane_value(const Wave &wave, unsigned first, unsigned lane, unsigned bytes) {
  uint64_t value = wave.vgpr[first].word[lane];
  return bytes == 8 ? value | uint64_t{wave.vgpr[first + 1].word[lane]} << 32 : value;
}

/// Puts what was loaded for a lane into the registers from `first` on.
void put_loaded(Wave &wave, unsigned first, unsigned lane, const ElementForm &element,
                const std::byte *bytes);
/// Collects what a lane stores.
void take_stored(const Wave &wave, unsigned first, unsigned lane, const ElementForm &element,
                 std::byte *bytes);

/// A row of a table of memory instructions: taint goes through memory, and the addressing tells the counter.
Operation memory_operation(std::string name, Category category, Handler handler, const MemoryForm &form);

/// Read-modify-write operations: the new value from the old one and the operand.
struct AtomicAccess {
  std::string_view name; ///< in global and buffer mnemonics
  uint8_t bytes;
  uint64_t (*apply)(uint64_t old, uint64_t operand);
  bool is_float = false;
  bool compares = false;  ///< cmpswap: the data is {new, expected}
  bool exchanges = false; ///< swap: nothing is computed
};

/// The list of global atomics (add, add_x2, ...).
std::span<const AtomicAccess> global_atomics();
/// Puts the columns of an atomic into its row,
void describe_atomic(Operation &row, const AtomicAccess &access);
/// and finds the atomic of a row again.
const AtomicAccess &atomic_of(const Operation &row);

/// Performs an atomic on host memory (aligned) and returns the old value.
uint64_t perform_atomic(const AtomicAccess &access, std::byte *at, uint64_t operand, uint64_t expected);
/// The same for a lane, with operands from the instruction's data registers.
uint64_t perform_atomic(const Wave &wave, const AtomicAccess &access, const Instruction &instruction,
                        unsigned lane, std::byte *at);

} // namespace nereid::sim
