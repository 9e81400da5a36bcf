#pragma once

#include <cstdint>
#include <optional>

#include "dsl/ir/op.h"
#include "dsl/ir/type.h"

namespace nereid::ir {

/// Bits of an integer element as a number (u64 above 2^63 wraps to negative), and back.
int64_t integer_value(Element element, uint64_t bits);
uint64_t integer_bits(Element element, int64_t value);

/// The result of a binary operation or comparison on integers known while tracing, as bits of its element;
/// nothing for a division by zero or an operation that is not folded. The meaning is that of the interpreter.
std::optional<uint64_t> fold_integers(Opcode opcode, Element element, uint64_t a, uint64_t b);

/// Whether x op constant (or, with `left`, constant op x) is x.
bool is_identity(Opcode opcode, Element element, uint64_t constant, bool left);

} // namespace nereid::ir
