#pragma once

#include <vector>

#include "codegen/schedule/lds_pipeline_schedule.h"
#include "codegen/schedule/pipelined_load.h"

namespace nereid::codegen {

/// LDS prefetch: all tiles that a loop loads come through LDS, to which async copies bring them `buffers` - 1
/// iterations ahead. The body runs as it stands, whatever it computes and carries.
struct LdsPrefetch {
  StreamedLoop loop;
  std::vector<PipelinedLoad> loads; ///< those of `loop`, in the order in which the body needs them
  unsigned buffers = 2;
  DepthLimit limit = DepthLimit::Asked; ///< why it has not one buffer more

  unsigned copies() const;    ///< of a wave in one iteration
  unsigned lds_bytes() const; ///< of one buffer of each load with copies
};

/// For loops that are no LDS pipelines, because they carry or compute more than sums of dots. Objections:
/// what the body does cannot be repeated for several iterations, a load that does not come through LDS, too
/// little LDS.
Decision<LdsPrefetch> plan_lds_prefetch(const FunctionIndex &index, const AxisAnalysis &axes,
                                        const ValueRanges &ranges, const LayoutChoice &layouts,
                                        const ir::Op &loop);

} // namespace nereid::codegen
