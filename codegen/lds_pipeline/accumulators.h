#pragma once

#include <utility>
#include <vector>

#include "codegen/lds_pipeline/pipeline_state.h"

namespace nereid::codegen {

/// The accumulators of an LDS pipeline, as they are where code is being emitted.
class Accumulators {
public:
  explicit Accumulators(const PipelineState &state) : state_(state) {}

  /// They get what the loop starts with.
  void start();
  /// Of a carried value, one tile of the matrix instruction.
  llvm::Value *&tile(size_t accumulator, unsigned number) { return tiles_[accumulator][number]; }
  /// All of them, in a fixed order.
  std::vector<llvm::Value **> all();
  /// The block that is being emitted goes on to where they are merged, with what they are now.
  void note_exit();
  /// At the block to which the exits go: they are what the exit had.
  void merge();
  /// The loop's results are what they are now.
  void define_results();

private:
  llvm::Value *in_accumulators(llvm::Value *tile) const;

  const PipelineState &state_;
  std::vector<LlvmValues> tiles_; ///< by carried value
  std::vector<std::pair<llvm::BasicBlock *, std::vector<LlvmValues>>> exits_;
};

} // namespace nereid::codegen
