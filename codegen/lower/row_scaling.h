#pragma once

#include <optional>

#include "codegen/lower/value_map.h"

namespace nereid::codegen {

/// The product of a carried value of an LDS prefetch loop with factors of its rows, as online softmax has it:
/// the factors are nearly always 1, so that a wave branches around it. Nothing for other operations, and
/// where a lane has nearly as many factors as products.
std::optional<Registers> scale_rows(EmitContext &context, ValueMap &values, const ir::Op &op);

} // namespace nereid::codegen
