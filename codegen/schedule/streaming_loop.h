#pragma once

#include <utility>
#include <vector>

#include "codegen/analysis/objection.h"
#include "codegen/schedule/loop_induction.h"
#include "codegen/schedule/scalar_lookup.h"

namespace nereid::codegen {

/// A load whose addresses move by a constant each iteration or, in LDS prefetch, with a scalar that is known
/// before the iteration.
struct StreamedLoad {
  const ir::Op *op;
  int64_t change;                         ///< bytes an iteration, times `factor`
  std::vector<ir::ValueId> fixed_masks;   ///< parts of the mask that do not vary
  bool has_iteration_mask = false;        ///< the mask has parts that vary, all of them in `conditions`
  std::optional<ir::ValueId> factor = {}; ///< a scalar that does not vary, as the pitch of a matrix
  /// Set: the scalar pointer that its addresses are apart from by what does not vary. Then `change` is 0.
  std::optional<ir::ValueId> moving_base = {};

  /// Which steps its scalar offset takes: bytes or, with a factor, iterations.
  int64_t offset_step() const { return factor ? 1 : change; }
};

/// The dots that are added to one carried value, in order.
struct DotAccumulator {
  std::vector<const ir::Op *> dots;
};

/// A loop that asks for stages, all of whose loads' addresses are known before their iteration.
/// `conditions` are true in all iterations but the last ones; comparisons that vary and are none of them are
/// computed in each iteration.
struct StreamedLoop {
  const ir::Op *op = nullptr;
  int64_t step = 0;
  int64_t stages = 0; ///< as the loop asks for
  std::vector<StreamedLoad> loads;
  std::vector<std::pair<ir::ValueId, LoopInduction::Condition>> conditions;
  std::vector<ScalarLookup> lookups;       ///< in LDS prefetch
  std::vector<const ir::Op *> address_ops; ///< of the lookups' addresses
};

/// A loop that loads operands and adds up their dots, and nothing else: what can run as an LDS pipeline
/// (docs/lowering.md), whatever the layouts.
struct StreamingLoop : StreamedLoop {
  std::vector<DotAccumulator> accumulators; ///< by carried value
};

/// With lookups and bases that move with them.
Decision<StreamedLoop> find_streamed_loop(const FunctionIndex &index, const AxisAnalysis &axes,
                                          const ir::Op &loop);
Decision<StreamingLoop> find_streaming_loop(const FunctionIndex &index, const AxisAnalysis &axes,
                                            const ir::Op &loop);

} // namespace nereid::codegen
