#pragma once

#include <unordered_set>
#include <vector>

#include "codegen/analysis/objection.h"
#include "codegen/analysis/value_ranges.h"
#include "codegen/assign/layout_choice.h"

namespace nereid::codegen {

/// Register prefetch: these loads of a loop are issued `depth` iterations before the one that uses them.
struct PrefetchPlan {
  unsigned depth = 1;
  std::vector<const ir::Op *> loads;                ///< in the order of the body
  std::unordered_set<const ir::Op *> addresses;     ///< operations of the body that the loads' operands need
  std::unordered_set<ir::ValueId> iteration_values; ///< what depends on the loop's index
  std::vector<Objection> kept;                      ///< loads that stay where they are, and why
  /// Iterations of a wave, where these are known and few, and the registers reach for the loads of all: they
  /// are written out, first all loads that are quantised, last all dots. Else 0.
  unsigned written_out = 0;
  std::vector<const ir::Op *> quantizes; ///< of loads of this plan, where iterations are written out

  bool varies(ir::ValueId value) const { return iteration_values.count(value) != 0; }
};

/// The loads of a loop whose addresses and masks follow from its index and from values before it and that
/// take no branch, if the body writes no memory and has no region of its own. The depth is the loop's
/// `stages`, as far as the registers reach. Of a loop that is split over the waves, if its range is known and
/// all waves have equally many iterations, these may be written out.
Decision<PrefetchPlan> plan_prefetch(const FunctionIndex &index, const AxisAnalysis &axes,
                                     const ValueRanges &ranges, const LayoutChoice &layouts,
                                     const ir::Op &loop);

} // namespace nereid::codegen
