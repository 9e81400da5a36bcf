#pragma once

#include "kernels/gemm_plan.h"
#include "sim/launch/launch_time.h"

namespace nereid::kernels {

/// Microseconds on an MI355X of all launches of a plan: the product's, the quantiser's before it with two
/// passes, the reduction's behind it with a workspace or atomics. Counted from config and shape alone, by the
/// device model of the simulator's times (docs/timing.md); without compiling or simulating, in a few
/// microseconds. Good for which configs are worth a look, not for the last 10 %. The config has to be
/// complete (plan_gemm).
double quick_estimate(const GemmPlan &plan, const ProblemSize &size,
                      sim::CacheState caches = sim::CacheState::Rotating);

/// Of the product's launch alone.
double quick_gemm_estimate(const GemmPlan &plan, const ProblemSize &size,
                           sim::CacheState caches = sim::CacheState::Rotating);

} // namespace nereid::kernels
