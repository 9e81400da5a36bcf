#pragma once

#include "codegen/lower/emit_context.h"
#include "codegen/lower/registers.h"

/// Pure operations (sources, shape and elementwise operations) as functions of their operands' registers.
namespace nereid::codegen {

/// In which layout operand number `operand` is wanted where `op` is computed in `layout`.
LinearLayout wanted_layout(const ir::Function &function, const ir::Op &op, unsigned operand,
                           const LinearLayout &layout);

/// Result number `result` in `layout`; `operands` lie as wanted_layout says.
Registers emit_pure(EmitContext &context, const ir::Op &op, unsigned result, const LinearLayout &layout,
                    const std::vector<Registers> &operands);

} // namespace nereid::codegen
