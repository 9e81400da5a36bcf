#pragma once

#include "codegen/plan/kernel_plan.h"

namespace nereid::codegen {

/// The layout that the plan gives a value; a default one for those that are made in whichever layout they are
/// wanted.
LinearLayout assigned_layout(const KernelPlan &plan, ir::ValueId value);

} // namespace nereid::codegen
