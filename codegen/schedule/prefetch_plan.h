#pragma once

#include <unordered_set>
#include <vector>

#include "codegen/assign/layout_choice.h"

namespace nereid::codegen {

/// How the rounds of a loop overlap: these loads are issued `depth` rounds before the round that uses them.
struct PrefetchPlan {
  unsigned depth = 1;
  std::vector<const ir::Op *> loads;                ///< in the order of the body
  std::unordered_set<const ir::Op *> addresses;     ///< scalar operations of the body that the loads need
  std::unordered_set<ir::ValueId> iteration_values; ///< what depends on the loop's index

  bool overlaps() const { return depth > 1 && !loads.empty(); }
  bool varies(ir::ValueId value) const { return iteration_values.count(value) != 0; }
};

/// The loads of a loop whose addresses and masks follow from its index and from values before it, if the body
/// writes no memory and has no region of its own; the depth is the loop's `stages`, as far as the registers
/// reach.
PrefetchPlan plan_prefetch(const FunctionIndex &index, const LayoutChoice &layouts, const ir::Op &loop);

} // namespace nereid::codegen
