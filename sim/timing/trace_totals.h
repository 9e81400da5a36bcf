#pragma once

#include "sim/decode/program.h"
#include "sim/timing/trace.h"
#include "sim/timing/workgroup_counts.h"

namespace nereid::sim::timing {

/// What a traced workgroup executed and moved, with the iterations that its trace does not have.
struct TraceTotals {
  WorkgroupCounts counts;
  double instructions = 0; ///< of all waves
  double load_bytes = 0, store_bytes = 0;
};

TraceTotals totals_of(const WorkgroupTrace &trace, const Program &program);

} // namespace nereid::sim::timing
