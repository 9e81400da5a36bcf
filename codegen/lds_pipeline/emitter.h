#pragma once

#include <unordered_map>
#include <vector>

#include "codegen/assign/register_groups.h"
#include "codegen/lower/lowering.h"
#include "codegen/schedule/lds_pipeline.h"
#include "codegen/schedule/lds_pipeline_contract.h"
#include "codegen/schedule/lds_pipeline_schedule.h"

namespace nereid::codegen {

/// Emits one staged loop (docs/lowering.md). What a round computes between its loads and its matrix
/// instructions is lowered once, over placeholders for what is loaded, and then cloned for each stage.
class LdsPipelineEmitter {
public:
  LdsPipelineEmitter(Lowering &lowering, const LdsPipeline &loop);
  /// False: the loop does not fit; nothing was emitted.
  bool emit();

private:
  using Values = std::vector<llvm::Value *>;
  /// One memory instruction's result: number of the load, and of the register group.
  struct LoadGroup {
    size_t load;
    size_t group;
  };
  /// One matrix instruction.
  struct MmaStep {
    size_t product, sum;
    unsigned m, n, k;
  };
  struct Product {
    const ir::Op *op;
    const DotPlan *plan;
    Fragments a, b; ///< of the template
  };
  struct Template {
    llvm::BasicBlock *block = nullptr;
    llvm::Value *index = nullptr;
    std::unordered_map<llvm::Value *, LoadGroup> units;
    std::unordered_map<llvm::Value *, bool> varies;
    std::vector<Product> dots;
  };
  struct Stage {
    std::vector<Values> loaded; ///< by load and group
    std::unordered_map<llvm::Value *, llvm::Value *> made;
    std::vector<std::pair<Fragments, Fragments>> fragments; ///< by product
    llvm::Value *index = nullptr;
  };
  /// A scalar offset that moves with the rounds; loads of equal change and distance share it.
  struct InductionOffset {
    int64_t change;
    unsigned distance;
    llvm::Value *last;    ///< where the last round's accesses are
    llvm::Value *current; ///< for what is issued next
  };
  struct LoadState {
    RegisterGroups groups; ///< of the home: one register access each
    RegisterGroups copies; ///< of the copy to LDS, swizzled
    LinearLayout copy_layout;
    llvm::Value *descriptor = nullptr;
    Values offsets;      ///< by group or copy; beyond the descriptor where a fixed mask is off
    Values open_offsets; ///< the same without masks
    size_t moving = 0;
    unsigned image_bytes = 0; ///< in LDS
    std::vector<llvm::GlobalVariable *> buffers;
    std::vector<llvm::MDNode *> scopes, other_scopes;
    llvm::Value *wave_target = nullptr;               ///< in a buffer, of the wave's first copy
    std::map<uint32_t, llvm::Value *> read_bases;     ///< by what a group adds by xor
    std::vector<std::pair<uint32_t, uint32_t>> reads; ///< by group: xor part, added part
  };
  enum class Masks { KnownTrue, Computed };

  // --- staged_operands.cpp: the template and its clones ---
  bool build_template(Template &made, Masks masks);
  void erase(Template &made);
  bool is_clonable(Template &made);
  void list_work();
  void make_invariants(const Template &made);
  llvm::Value *clone(const Template &from, llvm::Value *value, Stage &stage);
  void collect_units(const Template &from, llvm::Value *value, std::vector<LoadGroup> &units) const;
  void multiply(const Template &from, const MmaStep &work, Stage &stage);
  Stage new_stage(const Template &from) const;
  LdsPipelineDemand demand() const;

  // --- staged_addresses.cpp: where loads and copies find their elements ---
  void lower_scalars(llvm::Value *index);
  void make_addresses();
  /// Offsets and descriptor of a load whose accesses start at `leaders`.
  void make_offsets(LoadState &state, const PipelinedLoad &load, const LinearLayout &leaders);
  void make_direct(size_t number);
  void make_copies(size_t number);
  void make_reads(size_t number);
  Values offsets_of(const std::vector<Address> &parts, llvm::Value *&base);
  Values masked(const Values &offsets, const std::vector<ir::ValueId> &masks, const LinearLayout &leaders);
  llvm::Value *descriptor(llvm::Value *base);
  uint64_t swizzled(size_t number, uint64_t flat) const;
  LinearLayout swizzled(size_t number, const LinearLayout &layout) const;
  uint32_t lds_offset(size_t number, const LinearLayout &layout, uint32_t reg, bool swizzle) const;
  void make_buffers();
  llvm::Value *greatest(ir::ValueId value);
  /// The line of a load, and which part of the code this is (staged_promise.h).
  void set_position(const ir::Op &op, unsigned column);
  void contract();
  llvm::Value *load_unit(LoadGroup unit, llvm::Value *offset, llvm::Value *scalar_offset);
  llvm::Value *read_unit(LoadGroup unit, unsigned buffer);
  void copy(size_t load, size_t number, unsigned buffer, llvm::Value *offset, llvm::Value *scalar_offset);

  // --- lower_lds_pipeline.cpp: rounds and the order of instructions ---
  void count_iterations();
  void emit_prologue();
  void emit_stage(unsigned number, bool issues, bool reads_next, unsigned outstanding);
  void emit_loop_and_tail();
  void emit_remainder();
  void issue_load(LoadGroup unit, unsigned stage);
  void advance();
  void wait_and_barrier(unsigned outstanding);
  void order_barrier(unsigned may_cross);
  void wait(unsigned vector_memory, bool lds);
  void group(unsigned mask, unsigned count);
  std::vector<LoadGroup> direct_units() const;
  std::vector<LoadGroup> reads_of_chunk(unsigned chunk) const { return chunk_reads_[chunk]; }
  /// Everything that crosses from stage to stage: the sums, then what is loaded ahead.
  std::vector<llvm::Value **> carried(unsigned first_stage);
  llvm::Value *in_accumulators(llvm::Value *sum);

  Lowering &lowering_;
  const LdsPipeline &loop_;
  const ir::Block &body_;
  llvm::IRBuilder<> &builder_;
  llvm::Type *i32_;
  Template template_;
  std::vector<std::vector<MmaStep>> chunks_;
  std::vector<std::vector<LoadGroup>> chunk_reads_; ///< from LDS, first needed in a chunk
  LdsPipelineDemand demand_;
  LdsPipelineSchedule schedule_;
  std::vector<LoadState> loads_;
  std::vector<InductionOffset> induction_offsets_;
  std::unordered_map<llvm::Value *, llvm::Value *> invariants_;
  std::map<unsigned, Stage> stages_;
  std::vector<Values> accumulators_; ///< by carried value, tile
  unsigned part_ = pipeline_column;  ///< of the code that is being emitted
  llvm::Value *first_ = nullptr, *last_ = nullptr, *total_ = nullptr, *whole_ = nullptr;
};

} // namespace nereid::codegen
