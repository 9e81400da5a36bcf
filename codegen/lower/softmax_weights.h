#pragma once

#include <optional>

#include "codegen/lower/emit_context.h"
#include "codegen/lower/registers.h"

namespace nereid::codegen {

/// The maximum in x - max(x), each element less the maximum of its own row; null for other values.
const ir::Op *maximum_subtracted(const FunctionIndex &index, ir::ValueId difference);

/// e^(x - max(x)) of f32 and its quotient by its own sum, where nothing else sees the two: the weights are
/// kept 2^64 times as large, so that they, their sum and the remainders of the division are normal, and a
/// quotient is three operations. A weight that would be denormal is not rounded to one: the quotient is that
/// of a weight within exp's ulp, as the sum is 1 or more. Nothing for other operations.
std::optional<Registers> softmax_weights(EmitContext &context, const ir::Op &op,
                                         const std::vector<Registers> &operands);

} // namespace nereid::codegen
