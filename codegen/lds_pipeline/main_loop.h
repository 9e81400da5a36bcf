#pragma once

#include "codegen/lds_pipeline/stage.h"

namespace nereid::codegen {

/// Emits the main loop of an LDS pipeline: its prologue, the loop, unrolled by the number of buffers, and the
/// iterations left over after it.
class MainLoopEmitter {
public:
  MainLoopEmitter(PipelineState &state, Accumulators &accumulators);
  void emit();

private:
  /// Values on the edges into the main loop and into what follows it.
  struct Edges;

  void emit_prologue();
  void copy_first_stage(unsigned number);
  void emit_unrolled(Edges &edges, llvm::Value *turns, llvm::BasicBlock *after);
  void emit_tail(const Edges &edges, llvm::Value *turns, llvm::Value *rest, llvm::BasicBlock *done);
  /// Everything that crosses from stage to stage: the accumulators, then what is loaded ahead.
  std::vector<llvm::Value **> carried(unsigned first_stage);
  llvm::Value *index_of_stage(llvm::Value *turn, unsigned number);

  PipelineState &state_;
  llvm::IRBuilder<> &builder_;
  Accumulators &accumulators_;
  ScalarOffsets offsets_;
  StageEmitter stages_;
};

} // namespace nereid::codegen
