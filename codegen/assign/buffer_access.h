#pragma once

#include <optional>

#include "codegen/analysis/axis_info.h"
#include "codegen/layout/linear_layout.h"

namespace nereid::codegen {

/// Which operand of a memory operation is its mask, if it has one.
std::optional<size_t> mask_operand(const ir::Op &op);

/// The layout of the first elements of a load's or store's accesses, its value lying in `layout`.
LinearLayout access_leaders(const FunctionIndex &index, const AxisAnalysis &axes, const ir::Op &op,
                            const LinearLayout &layout);

} // namespace nereid::codegen
