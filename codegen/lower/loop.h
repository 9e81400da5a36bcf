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
                               const BodyCopy &copy);
  Iterations iterations_of_wave(Iterations all);
  Registers initial_accumulator_of_wave(const Registers &initial);

  // --- prefetch_loop.cpp ---
  /// What is in flight of one iteration: the vectors of each load of the plan.
  using InFlightLoads = std::vector<Registers>;
  /// Between iterations: integers that say where the loop stands, accumulators, loads under way.
  struct Stage {
    CarriedValues numbers;
    CarriedValues accumulators;
    std::vector<InFlightLoads> in_flight;
  };
  void emit_prefetch_loop(Loop &loop, PrefetchPlan plan);
  InFlightLoads issue_iteration(const Loop &loop, PrefetchPlan &plan, llvm::Value *index,
                                llvm::Value *in_bounds);
  CarriedValues finish_iteration(const Loop &loop, const PrefetchPlan &plan, unsigned copy,
                                 llvm::Value *index, const CarriedValues &carried,
                                 const InFlightLoads &loads_in_flight);

  Lowering &parts_;
  EmitContext &context_;
  llvm::IRBuilder<> &builder_;
};

} // namespace nereid::codegen
