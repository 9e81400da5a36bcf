#pragma once

#include <optional>

#include "codegen/lower/emit_context.h"
#include "codegen/lower/registers.h"

namespace nereid::codegen {

/// A division of floats in which many registers of a lane have one divisor (a row's sum): correctly rounded
/// quotients for 4 instructions each, after one reciprocal for each divisor. Nothing where divisors are
/// shared by too few.
std::optional<Registers> divide_by_shared(EmitContext &context, const ir::Op &op,
                                          const std::vector<Registers> &operands);

} // namespace nereid::codegen
