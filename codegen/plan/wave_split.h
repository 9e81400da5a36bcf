#pragma once

#include "codegen/plan/kernel_plan.h"

namespace nereid::codegen {

/// Fills in the layouts, and with them which loops are split over the waves: those that find_wave_split_loops
/// names, but for loops that run as well as LDS pipelines and for those that a layout speaks against.
/// Errors: as choose_layouts; the user's, where wave_split=k asks for what cannot be.
Status choose_wave_split(KernelPlan &plan, ColumnsOfRows columns);

/// Accumulators and operands of every dot have room in the registers that need no moves to and from AGPRs.
bool dots_fit_vgprs(const LayoutChoice &layouts);

} // namespace nereid::codegen
