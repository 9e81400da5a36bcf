#pragma once

#include <optional>
#include <vector>

#include "codegen/assign/layout_choice.h"
#include "codegen/schedule/loop_induction.h"

namespace nereid::codegen {

/// A load of a staged loop: its addresses move by a constant each round.
struct PipelinedLoad {
  const ir::Op *op;
  int64_t change; ///< bytes a round
  /// Several waves want the same elements and a wave alone would gather short runs: the workgroup copies the
  /// tile to LDS, each element once.
  bool through_lds;
  std::vector<ir::ValueId> fixed_masks; ///< parts of the mask that do not vary
  bool has_iteration_mask;              ///< the mask has parts that vary, all of them in `conditions`
};

/// The products that are added to one carried value, in order.
struct PipelineAccumulator {
  std::vector<const ir::Op *> dots;
};

/// A loop that loads operands and sums up their products, and nothing else: what runs as a software pipeline
/// over LDS (docs/lowering.md). `conditions` are true in all rounds but the last ones; comparisons that vary
/// and are none of them are computed in each round.
struct LdsPipeline {
  const ir::Op *op;
  int64_t step;
  int64_t stages; ///< as the loop asks for
  std::vector<PipelinedLoad> loads;
  std::vector<PipelineAccumulator> accumulators; ///< by carried value
  std::vector<std::pair<ir::ValueId, LoopInduction::Condition>> conditions;

  size_t number_of(const ir::Op &load) const;
};

/// Nothing if the loop is another kind, or no operand goes through LDS.
std::optional<LdsPipeline> find_lds_pipeline(const FunctionIndex &index, const AxisAnalysis &axes,
                                             const LayoutChoice &layouts, const ir::Op &loop);

/// How the workgroup copies a tile to LDS: 16 bytes a lane, lanes along memory, then waves. Without a
/// swizzle. Null when the tile is no row-major matrix of 64 to 1024 bytes a row, or smaller than one copy
/// instruction of each wave.
std::optional<LinearLayout> lds_copy_layout(const ir::Function &function, const AxisAnalysis &axes,
                                            const ir::Op &load);

} // namespace nereid::codegen
