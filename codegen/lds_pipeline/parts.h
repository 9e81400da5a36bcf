#pragma once

#include <unordered_map>
#include <utility>
#include <vector>

#include "codegen/lower/lowering.h"
#include "codegen/schedule/lds_pipeline.h"

namespace nereid::codegen {

using LlvmValues = std::vector<llvm::Value *>;

/// One memory instruction's result: the number of its load in the pipeline, and of its register group.
struct LoadGroup {
  size_t load;
  size_t group;
};

/// One matrix instruction.
struct MmaStep {
  size_t dot;         ///< in the order of the body
  size_t accumulator; ///< the carried value that it adds to
  unsigned m, n, k;   ///< tile of rows, of columns, step along K
};

/// The matrix instructions of a stage, chunk by chunk. K is outermost, then pairs of column tiles, then pairs
/// of row tiles: an operand is used again at once.
std::vector<std::vector<MmaStep>> mma_chunks(const LdsPipeline &pipeline, const LayoutChoice &layouts);

/// The groups of the loads that go straight to registers.
std::vector<LoadGroup> direct_groups(const LdsPipeline &pipeline);

} // namespace nereid::codegen
