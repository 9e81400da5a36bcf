#pragma once

#include <vector>

#include "codegen/lds_pipeline/iteration_template.h"
#include "codegen/lds_pipeline/operand_memory.h"

namespace nereid::codegen {

/// How often a loop runs, as i32 values before it.
struct IterationCount {
  llvm::Value *first = nullptr, *last = nullptr; ///< as the loop has them
  llvm::Value *total = nullptr;                  ///< iterations
  llvm::Value *full = nullptr;                   ///< those, the first ones, in which all conditions hold
};

/// What the loops of one LDS pipeline have in common.
struct PipelineState {
  PipelineState(Lowering &lowering, const LdsPipeline &pipeline);

  /// Whether it runs again and again, in a loop around it.
  bool is_nested() const;
  /// Lowers the scalars of the body as they are where the loop's variable is `index`.
  void lower_scalars(llvm::Value *index);
  /// The loop's variable in an iteration.
  llvm::Value *index_at(llvm::Value *iteration_number);

  Lowering &lowering;
  const LdsPipeline &pipeline;
  const LdsPipelineSchedule &schedule;
  const ir::Op &loop;
  llvm::IRBuilder<> &builder;
  IterationTemplate iteration; ///< with all masks on
  OperandMemory memory;
  std::vector<std::vector<MmaStep>> chunks;
  std::vector<std::vector<LoadGroup>> chunk_reads; ///< from LDS, first needed in a chunk
  IterationCount count;
};

/// Emits how often the loop runs, into `state.count`.
void count_iterations(PipelineState &state);

} // namespace nereid::codegen
