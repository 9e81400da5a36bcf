#pragma once

#include <optional>

#include "codegen/assign/register_groups.h"
#include "codegen/schedule/lds_image.h"
#include "codegen/schedule/row_bound.h"
#include "codegen/schedule/streaming_loop.h"

namespace nereid::codegen {

/// A load that is issued iterations ahead: through LDS, or straight to registers.
struct PipelinedLoad : StreamedLoad {
  /// Its accesses: of the register layout, each a read of LDS or a load.
  RegisterGroups groups;
  std::optional<LdsImage> image; ///< set: through LDS
  RegisterGroups copies;         ///< the async copies of a lane, swizzled; empty without an image
  std::optional<RowBound> bound; ///< set: stands for its mask
  std::optional<size_t> source;  ///< set: it has no copies and reads those of this load of its loop

  bool through_lds() const { return image.has_value(); }
  /// Of a wave in one iteration: async copies to LDS, instructions that read it.
  unsigned copy_count() const { return static_cast<unsigned>(copies.first.size()); }
  unsigned read_count() const { return static_cast<unsigned>(groups.first.size()) * image->reads_of_group(); }
};

/// Objections: the tile has no layout of its own, a lane would read less than a dword at a time, a tile that
/// is to be transposed cannot be in LDS.
Decision<PipelinedLoad> plan_pipelined_load(const FunctionIndex &index, const AxisAnalysis &axes,
                                            const LayoutChoice &layouts, const StreamedLoad &streamed);

/// Whether two loads of a loop's body bring the same tile through LDS.
bool is_same_tile(const FunctionIndex &index, const PipelinedLoad &a, const PipelinedLoad &b);
/// Lets `reader` read what load number `source` of its loop, `from`, copies to LDS.
void read_copies_of(const FunctionIndex &index, const AxisAnalysis &axes, size_t source, PipelinedLoad &from,
                    PipelinedLoad &reader);

} // namespace nereid::codegen
