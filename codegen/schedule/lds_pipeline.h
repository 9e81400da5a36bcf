#pragma once

#include <optional>
#include <vector>

#include "codegen/schedule/lds_pipeline_schedule.h"
#include "codegen/schedule/pipelined_load.h"

namespace nereid::codegen {

/// A streaming loop that runs as a software pipeline over LDS, with its schedule.
struct LdsPipeline {
  StreamingLoop loop;
  std::vector<PipelinedLoad> loads; ///< those of `loop`
  LdsPipelineDemand demand;
  LdsPipelineSchedule schedule;
  DepthLimit limit; ///< why it has not one buffer more

  /// The number of a load among `loads`.
  size_t number_of(const ir::Op &load) const;
};

/// Objections: a load or a dot that no pipeline takes, no operand that gains by LDS, too few registers or too
/// little LDS.
Decision<LdsPipeline> plan_lds_pipeline(const FunctionIndex &index, const AxisAnalysis &axes,
                                        const LayoutChoice &layouts, StreamingLoop loop);

} // namespace nereid::codegen
