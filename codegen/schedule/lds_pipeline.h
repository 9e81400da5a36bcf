#pragma once

#include <optional>
#include <vector>

#include "codegen/schedule/lds_image.h"
#include "codegen/schedule/lds_pipeline_schedule.h"
#include "codegen/schedule/streaming_loop.h"

namespace nereid::codegen {

/// A load of an LDS pipeline: through LDS, or straight to registers.
struct PipelinedLoad : StreamedLoad {
  /// Its accesses: of the register layout, each a read of LDS or a load.
  RegisterGroups groups;
  std::optional<LdsImage> image; ///< set: through LDS
  RegisterGroups copies;         ///< the async copies of a lane, swizzled; empty without an image

  bool through_lds() const { return image.has_value(); }
};

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
