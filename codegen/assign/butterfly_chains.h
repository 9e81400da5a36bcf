#pragma once

#include <unordered_set>
#include <vector>

#include "codegen/analysis/function_index.h"
#include "codegen/layout/linear_layout.h"

namespace nereid::codegen {

/// Chains of butterfly stages: a split, elementwise operations on its two halves, a join of their results,
/// and again a split of that join, seen through reshapes and permutes, as in a fast Hadamard or Fourier
/// transform. A split wants the pairs of its stage in two registers of a lane. Were that passed on from stage
/// to stage, each would take another bit of the tile from the lanes, until every lane held all of it.
class ButterflyChains {
public:
  explicit ButterflyChains(const FunctionIndex &index);

  /// A split or a join of a chain of at least two stages.
  bool contains(const ir::Op &op) const { return ops_.contains(&op); }
  /// The joins of all chains, in the function's order.
  const std::vector<const ir::Op *> &joins() const { return joins_; }

private:
  std::unordered_set<const ir::Op *> ops_;
  std::vector<const ir::Op *> joins_;
};

/// What a split or join of a chain passes on to its operands, of the layout in which it wants them. No lane
/// holds more of the tile than it has to: registers are moved, the highest first, to lanes and waves that
/// broadcast. A split's pairs are the highest register bit, so that they change places with the pairs of the
/// stage before and all other registers stay where they are.
LinearLayout butterfly_layout(const ir::Op &op, const LinearLayout &wanted);

} // namespace nereid::codegen
