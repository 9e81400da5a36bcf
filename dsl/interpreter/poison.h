#pragma once

#include <optional>

#include "dsl/interpreter/frame.h"

namespace nereid::interpreter {

/// Elements whose value the author cannot have meant: the result of an i32 overflow, which is looked for
/// only where it may reach an address, and of a division by zero. They are reported where they become
/// observable, not where they arise, since a mask may remove them. A poison is the operation's location + 1,
/// with a bit for its kind.
inline constexpr uint32_t division_bit = 1u << 31;

inline uint32_t overflow_poison(const ir::Op &op) { return op.location + 1; }
inline uint32_t division_poison(const ir::Op &op) { return (op.location + 1) | division_bit; }

/// Which values may reach an address by arithmetic.
std::vector<bool> values_that_reach_addresses(const ir::Function &function);

/// Hands the poison of an operation's operands on to its results, where the operation has not dealt with it.
void propagate(Frame &frame, const ir::Op &op);

/// Adds a poison to elements of a result.
void poison_where(Tensor &tensor, size_t count, const std::vector<bool> &where, uint32_t poison);

/// The first observable poison of an operand, as an error: of its elements where the mask holds (all without
/// one). Overflows count only for addresses. `what` says how it is used: "reaches an address".
Status observe(const Frame &frame, const ir::Op &op, size_t operand, std::string_view what, bool is_address,
               const uint8_t *mask = nullptr);

} // namespace nereid::interpreter
