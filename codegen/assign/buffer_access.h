#pragma once

#include <optional>

#include "codegen/analysis/axis_info.h"
#include "codegen/assign/memory_layout.h"
#include "codegen/layout/linear_layout.h"

namespace nereid::codegen {

/// Which operand of a memory operation is its mask, if it has one.
std::optional<size_t> mask_operand(const ir::Op &op);

/// Where the accesses of a memory operation may start. Loads and stores without a mask need no descriptor,
/// whose range check takes the place of branches.
AccessStart access_start(const ir::Op &op);

/// The layout of the first elements of a load's or store's accesses, its value lying in `layout`.
LinearLayout access_leaders(const FunctionIndex &index, const AxisAnalysis &axes, const ir::Op &op,
                            const LinearLayout &layout);

} // namespace nereid::codegen
