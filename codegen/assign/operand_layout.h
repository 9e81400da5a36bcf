#pragma once

#include <optional>

#include "codegen/layout/linear_layout.h"
#include "dsl/ir/function.h"

namespace nereid::codegen {

/// The layout in which shape and elementwise operations need operand `operand` for result `result` to come
/// out in `layout` without moving data between lanes. Register numbers are kept (register r of the result
/// comes from register r), except by split, whose result number i comes from register 2 r + i. Where `layout`
/// broadcasts, or the operand is broadcast, registers hold the same element. Reshapes leave odd factors where
/// they are (the builder refuses others).
LinearLayout operand_layout(const ir::Function &function, const ir::Op &op, unsigned operand,
                            const LinearLayout &layout);

/// The layout in which the (first) result comes for free when the operand lies in `layout`; nothing for
/// broadcasts, whose result should lie as its other users want it.
std::optional<LinearLayout> result_layout(const ir::Function &function, const ir::Op &op,
                                          const LinearLayout &layout);

} // namespace nereid::codegen
