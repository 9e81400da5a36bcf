#pragma once

#include <optional>

#include "dsl/interpreter/frame.h"

namespace nereid::interpreter {

/// Elements whose value the author cannot have meant: the result of an i32 overflow, which is looked for
/// only where it may reach an address, of a division by zero, and what was loaded from memory that nothing
/// has written. They are reported where they become observable, not where they arise, since a mask may remove
/// them. A poison is the operation's location + 1, with a bit for a division; or, with another bit, the
/// number of an UndefinedRead, and whether it went through arithmetic since.
inline constexpr uint32_t division_bit = 1u << 31, undefined_bit = 1u << 30, computed_bit = 1u << 29;

inline uint32_t overflow_poison(const ir::Op &op) { return op.location + 1; }
inline uint32_t division_poison(const ir::Op &op) { return (op.location + 1) | division_bit; }
inline bool is_undefined(uint32_t poison) {
  return (poison & division_bit) == 0 && (poison & undefined_bit) != 0;
}
/// Of an element that a load took from memory which nothing has written.
uint32_t undefined_poison(Frame &frame, const ir::Op &load, size_t element, uint64_t address);

/// The error of such a poison where it is observable; `what` as for observe.
Error undefined_error(const Frame &frame, const ir::Op &op, uint32_t poison, std::string_view what);

/// Which values may reach an address by arithmetic.
std::vector<bool> values_that_reach_addresses(const ir::Function &function);

/// Hands the poison of an operation's operands on to its results, where the operation has not dealt with it.
void propagate(Frame &frame, const ir::Op &op);

/// Adds a poison to elements of a result.
void poison_where(Tensor &tensor, size_t count, const std::vector<bool> &where, uint32_t poison);

/// How an operand is used: an overflow matters in an address; a copy of undefined memory may be stored, where
/// it stays undefined.
enum class Use { Value, Address, Stored };

/// The first observable poison of an operand, as an error: of its elements where the mask holds (all without
/// one). `what` says how it is used: "reaches an address".
Status observe(const Frame &frame, const ir::Op &op, size_t operand, std::string_view what, Use use,
               const uint8_t *mask = nullptr);

} // namespace nereid::interpreter
