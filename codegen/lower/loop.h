#pragma once

#include "codegen/lower/edges.h"
#include "codegen/lower/memory.h"

namespace nereid::codegen {

struct BodyCopy;
struct Lowering;

/// Loops. Those that are LDS pipelines are emitted by codegen/lds_pipeline.
class LoopEmitter {
public:
  explicit LoopEmitter(Lowering &parts);

  void emit(const ir::Op &op);
  /// A loop with a condition.
  void emit_while(const ir::Op &op);
  /// The body of `loop` once, in a copy of its own: what it carries on, in `layouts` as what it carries in.
  CarriedValues emit_iteration(const ir::Op &loop, const std::vector<LinearLayout> &layouts,
                               llvm::Value *index, const CarriedValues &carried, const BodyCopy &copy);

private:
  struct Iterations {
    llvm::Value *first, *last, *step;
    llvm::Value *any; ///< whether there is an iteration
  };
  /// A loop under construction.
  struct Loop {
    const ir::Op &op;
    const ir::Block &body;
    bool wave_split;
    Iterations iterations;
    std::vector<LinearLayout> layouts; ///< of the carried values
    std::vector<std::pair<llvm::BasicBlock *, CarriedValues>> exits;
    llvm::BasicBlock *done;
  };

  Loop open(const ir::Op &op);
  void close(const Loop &loop);
  void emit_iterations(Loop &loop);
  CarriedValues emit_iteration(const Loop &loop, llvm::Value *index, const CarriedValues &carried,
                               const BodyCopy &copy) {
    return emit_iteration(loop.op, loop.layouts, index, carried, copy);
  }
  /// The same without the index.
  CarriedValues emit_body(const ir::Op &loop, const std::vector<LinearLayout> &layouts,
                          const CarriedValues &carried, const BodyCopy &copy);
  Iterations iterations_of_wave(Iterations all);
  Registers initial_accumulator_of_wave(const Registers &initial);

  // --- prefetch_loop.cpp ---
  class PrefetchLoop;
  void emit_prefetch_loop(Loop &loop, const PrefetchPlan &plan);

  // --- written_out_loop.cpp ---
  class WrittenOutLoop;
  void emit_written_out(Loop &loop, const PrefetchPlan &plan);

  /// Nothing moves across. The backend's scheduler would sink loads to their uses, and a wait counts loads in
  /// the order in which they were issued, on all paths into the loop.
  void pin_order();

  Lowering &parts_;
  EmitContext &context_;
  llvm::IRBuilder<> &builder_;
};

} // namespace nereid::codegen
