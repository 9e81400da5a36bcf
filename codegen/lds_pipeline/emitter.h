#pragma once

#include <functional>
#include <map>
#include <vector>

#include "codegen/lds_pipeline/iteration_template.h"
#include "codegen/lds_pipeline/operand_memory.h"
#include "codegen/lds_pipeline/scalar_offsets.h"
#include "codegen/lds_pipeline/waits.h"

namespace nereid::codegen {

/// Emits one LDS pipeline (docs/lowering.md): the main loop, unrolled by the number of buffers, what is left
/// of its iterations without loads, and the iterations in which masks differ between elements.
class LdsPipelineEmitter {
public:
  LdsPipelineEmitter(Lowering &lowering, const LdsPipeline &pipeline);
  void emit();

private:
  using Stage = IterationTemplate::Stage;
  using Accumulators = std::vector<LlvmValues>; ///< by carried value, tile
  /// A memory instruction that stands between matrix instructions.
  struct MemorySlot {
    unsigned reads; ///< instructions that read LDS, or 0 for one to global memory
    std::function<void()> emit;
  };
  /// What a stage does in addition to its matrix instructions.
  struct StageWork {
    bool issues;          ///< loads and copies of later stages
    bool reads_next;      ///< the next stage's first chunk
    unsigned outstanding; ///< at its barrier
  };
  /// Values on the edges into the main loop and into what follows it.
  struct LoopEdges;

  // --- emitter.cpp ---
  /// Whether it runs again and again, in a loop around it.
  bool is_nested() const;
  void list_reads();
  void note_contracts();
  void count_iterations();
  void lower_scalars(llvm::Value *index);
  /// The largest element of a tile that LoopInduction::has_max_element says has one, as i64.
  llvm::Value *max_element(ir::ValueId value);
  llvm::Value *max_of_source(ir::ValueId value);
  void start_accumulators();
  void define_results();
  void keep_in_accumulators();
  llvm::Value *in_accumulators(llvm::Value *tile);
  llvm::Value *index_at(llvm::Value *iteration);

  // --- main_loop.cpp ---
  void emit_main_loop();
  void emit_prologue();
  void copy_first_stage(unsigned stage);
  void emit_unrolled(LoopEdges &edges, llvm::Value *turns, llvm::BasicBlock *after);
  void emit_tail(const LoopEdges &edges, llvm::Value *turns, llvm::Value *rest, llvm::BasicBlock *done);
  /// Everything that crosses from stage to stage: the accumulators, then what is loaded ahead.
  std::vector<llvm::Value **> carried(unsigned first_stage);
  llvm::Value *index_of_stage(llvm::Value *turn, unsigned stage);
  void merge_accumulators();

  // --- stage.cpp ---
  /// Under construction, begun when it is first named.
  Stage &stage(unsigned number);
  void emit_stage(unsigned number, const StageWork &work);
  std::vector<MemorySlot> slots_of_chunk(unsigned number, size_t chunk, const StageWork &work);
  void emit_chunk(unsigned number, size_t chunk, std::vector<MemorySlot> &slots);
  void order_slot(const MemorySlot &slot);
  void order_by_groups(size_t chunk, const std::vector<MemorySlot> &slots);
  void wait_and_barrier(unsigned outstanding);
  void group_barrier(unsigned mask, size_t count);

  // --- remainder.cpp ---
  void emit_remainder();
  void load_iteration(Stage &stage, llvm::Value *iteration);
  void compute_iteration(IterationTemplate &computed, Stage &stage);

  Lowering &lowering_;
  const LdsPipeline &pipeline_;
  const LdsPipelineSchedule &schedule_;
  const ir::Op &loop_;
  const ir::Block &body_;
  llvm::IRBuilder<> &builder_;
  IterationTemplate template_;
  OperandMemory memory_;
  ScalarOffsets offsets_;
  std::vector<std::vector<MmaStep>> chunks_;
  std::vector<std::vector<LoadGroup>> chunk_reads_; ///< from LDS, first needed in a chunk
  std::map<unsigned, Stage> stages_;
  Accumulators accumulators_;
  std::vector<std::pair<llvm::BasicBlock *, Accumulators>> exits_; ///< of the main loop
  llvm::Value *first_ = nullptr, *last_ = nullptr;                 ///< as the loop has them
  llvm::Value *total_ = nullptr;                                   ///< iterations
  llvm::Value *full_ = nullptr; ///< those, the first ones, in which all conditions hold
};

} // namespace nereid::codegen
