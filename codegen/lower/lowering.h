#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "codegen/analysis/axis_info.h"
#include "codegen/analysis/value_ranges.h"
#include "codegen/assign/layout_choice.h"
#include "codegen/assign/memory_layout.h"
#include "codegen/convert/convert_plan.h"
#include "codegen/lower/buffer.h"
#include "codegen/lower/casts.h"
#include "codegen/lower/elementwise.h"
#include "codegen/lower/lane_moves.h"
#include "codegen/lower/llvm_types.h"
#include "codegen/lower/pure_ops.h"
#include "codegen/lower/thread_position.h"
#include "codegen/lower/value_layout.h"

namespace nereid::codegen {

/// Turns one function into one kernel. Values are asked for in a layout (`get`); cheap values are made on
/// demand, others are converted from their home. Members are grouped by the file that implements them.
class Lowering {
public:
  Lowering(const KernelPlan &plan, llvm::Module &module);
  Status run();

private:
  friend class LdsPipelineEmitter;

  // --- lower.cpp: the walk over operations, values in layouts ---
  Status emit_kernel();
  void lower_block(const ir::Block &block);
  void lower_op(const ir::Op &op);

  /// Loads that belong to another iteration than the one that is computed: the plan, and whether the
  /// iteration exists (null: it does).
  struct Prefetch {
    const PrefetchPlan *plan = nullptr;
    llvm::Value *in_bounds = nullptr;
  };
  // --- lower_memory.cpp, lower_atomic.cpp ---
  void lower_load(const ir::Op &op);
  /// Starts a load without a branch, masked threads get zeros: what each access moves. Nothing if that takes
  /// branches.
  std::optional<Registers> issue_load(const ir::Op &op, const Prefetch &prefetch);
  void finish_load(const ir::Op &op, Registers vectors);
  Registers load_in_branches(const ir::Op &op);
  void define_loaded(const ir::Op &op, const Registers &vectors);
  void lower_store(const ir::Op &op);
  void lower_atomic(const ir::Op &op);
  llvm::Value *atomic_of(const ir::Op &op, llvm::Value *pointer, llvm::Value *value, llvm::Value *desired);
  void atomic_fence(const ir::Op &op, bool before);
  Registers share_old_values(const Registers &old, const LinearLayout &layout, llvm::Value *owner);
  llvm::Value *load_vector(const ir::Op &op, llvm::Value *pointer, unsigned count, llvm::Align align);
  struct Accesses;
  Accesses accesses_of(ir::ValueId pointer, std::optional<ir::ValueId> mask,
                       const LinearLayout &layout) const;
  Registers fills(const ir::Op &op, const Accesses &accesses);
  llvm::Align access_alignment(ir::ValueId pointer, unsigned elements) const;
  /// Runs `body` where `condition` holds; `body` gives values, which are merged with `otherwise`.
  Registers guarded(llvm::Value *condition, const Registers &otherwise,
                    const std::function<Registers()> &body);
  llvm::Value *anchored(llvm::Value *vector);

  // --- lower_reduce.cpp ---
  /// What is reduced of one element: its value, and for argmax its index.
  using Part = Registers;
  void lower_reduce(const ir::Op &op);
  Part combine(const ir::Op &op, const Part &a, const Part &b);
  Part reduce_lanes(const ir::Op &op, Part part, uint32_t lanes);
  std::vector<Part> reduce_waves(const ir::Op &op, std::vector<Part> parts, const LinearLayout &layout,
                                 uint32_t waves);
  Registers sum_over_waves(const Registers &accumulators, const LinearLayout &layout,
                           const LinearLayout &result);
  std::vector<Part> parts_of(const ir::Op &op, const LinearLayout &layout, unsigned axis);

  // --- lower_scan.cpp ---
  void lower_cumsum(const ir::Op &op);
  std::array<Registers, 2> both_waves(const Registers &values, unsigned bit);

  // --- lower_dot.cpp, lower_quantize.cpp ---
  /// The operand registers of all instructions of a dot's side.
  struct Fragments {
    struct Scale {
      llvm::Value *dword = nullptr;
      unsigned byte = 0;
    };
    unsigned k_instructions = 1;
    std::vector<llvm::Value *> operands; ///< tile * k_instructions + k
    std::vector<Scale> scales;
    Registers sum_scales; ///< f32, see DotPlan::sum_scale
  };
  void lower_dot(const ir::Op &op, ir::ValueId result, std::optional<ir::ValueId> addend);
  bool is_folded_dot(const ir::Op &op) const;
  /// Sums and operands of every dot have room in the 256 registers that need no moves to and from AGPRs.
  bool dots_fit_vgprs() const;
  Fragments fragments(const DotSide &side, const DotOperandPlan &plan, const DotPlan &dot);
  Registers for_each_step(const DotOperandPlan &plan, const Registers &operands);
  llvm::Value *sum_over_steps(const DotOperandPlan &plan, llvm::Value *sum);
  Registers widen_codes(const Registers &dwords, ir::Format format, llvm::Type *half);
  llvm::Value *power_of_scale(llvm::Value *byte);
  llvm::Value *accumulate_dot(const DotPlan &plan, const Fragments &b, const Fragments &a, unsigned n_tile,
                              unsigned m_tile, size_t first, llvm::Value *sum);
  llvm::Value *mfma(const DotPlan &plan, const Fragments &b, const Fragments &a, unsigned n_tile,
                    unsigned m_tile, unsigned k, llvm::Value *accumulator);
  void lower_quantize(const ir::Op &op);
  std::optional<std::array<Registers, 2>> share_quantized(const ir::Op &op, const std::array<Tile, 2> &made);
  Registers convert_to_six_bits(const ir::Op &op, const Registers &group, llvm::Value *scale);
  llvm::Value *group_scale(const ir::Op &op, const Registers &group);
  llvm::Value *opaque_unless_loaded(llvm::Value *dword, llvm::Value *first_element);
  Registers convert_to_e2m1(const Registers &group, llvm::Value *scale);
  Registers convert_to_byte_codes(const ir::Op &op, const Registers &group, llvm::Value *scale);

  // --- lower_six_bit.cpp ---
  Registers coordinates(const LinearLayout &layout, unsigned dim);
  Registers places_in_array(const LinearLayout &layout, unsigned inner);
  llvm::Value *byte_address(llvm::Value *base, llvm::Value *place);
  llvm::Value *codes_in_lds(ir::ValueId value, unsigned k_dim);
  std::vector<llvm::Value *> six_bit_operands(const DotSide &side, const DotOperandPlan &plan,
                                              unsigned k_dim);
  Registers spread_groups(const std::vector<Registers> &codes, const LinearLayout &groups,
                          const LinearLayout &layout);

  // --- lower_control.cpp ---
  struct Iterations {
    llvm::Value *first, *last, *step;
    llvm::Value *any; ///< whether there is a round
  };
  /// A loop under construction. `accumulators` are what a loop carries, each as registers that cross an edge.
  using CarriedValues = std::vector<Registers>;
  struct Loop {
    const ir::Op &op;
    const ir::Block &body;
    bool wave_split;
    Iterations iterations;
    std::vector<LinearLayout> layouts; ///< of the carried values
    std::vector<std::pair<llvm::BasicBlock *, CarriedValues>> exits;
    llvm::BasicBlock *done;
  };
  void lower_for(const ir::Op &op);
  /// A loop that fits is emitted as a pipeline over LDS; else false.
  bool lower_lds_pipeline(const ir::Op &op);
  void lower_iterations(Loop &loop);
  CarriedValues lower_iteration(const Loop &loop, llvm::Value *index, const CarriedValues &carried);
  Iterations iterations_of_wave(Iterations all);
  Registers initial_accumulator_of_wave(const Registers &initial);
  CarriedValues phis_of(const CarriedValues &values);
  static void add_incoming(const CarriedValues &phis, const CarriedValues &values, llvm::BasicBlock *from);
  void lower_if(const ir::Op &op);
  Registers edge_values(ir::ValueId value, const LinearLayout &layout);
  unsigned edge_bits(ir::ValueId value, const LinearLayout &layout) const;
  void define_from_edge(ir::ValueId value, const LinearLayout &layout, const Registers &crossed);
  void define_merged(const ir::Op &op, const std::array<std::vector<Registers>, 2> &values,
                     const std::array<llvm::BasicBlock *, 2> &edges);
  void lower_statement(const ir::Op &op);

  // --- lower_pipeline.cpp ---
  /// What is in flight of one round: the vectors of each load of the plan.
  using InFlightLoads = std::vector<Registers>;
  /// Between rounds: integers that say where the loop stands, sums, loads under way.
  struct Stage {
    CarriedValues numbers;
    CarriedValues accumulators;
    std::vector<InFlightLoads> in_flight;
  };
  void lower_prefetch_loop(Loop &loop, PrefetchPlan plan);
  InFlightLoads issue_iteration(const Loop &loop, PrefetchPlan &plan, llvm::Value *index,
                                llvm::Value *exists);
  CarriedValues finish_iteration(const Loop &loop, const PrefetchPlan &plan, llvm::Value *index,
                                 const CarriedValues &carried, const InFlightLoads &loads_in_flight);
  llvm::Value *saturated_multiple(llvm::Value *step, unsigned factor);
  void pin_order();

  const FunctionIndex &index_;
  const ir::Function &function_;
  const AxisAnalysis &axes_;
  const LayoutChoice &layouts_;
  EmitContext context_;
  llvm::IRBuilder<> &builder_;
  Packing packing_;
  LdsMemory lds_;
  MemoryOrder order_;
  ExchangeEmitter exchange_;
  RegionCache cache_;
  ValueMap values_;
  AddressEmitter addresses_;
  LinearLayout scalar_layout_;
  std::unordered_map<const ir::Op *, Registers> issued_;

  /// Which copy of a pipeline's body is being lowered, of how many.
  unsigned exchange_copy_ = 0, exchange_copies_ = 1;
  std::unordered_map<const ir::Op *, llvm::GlobalVariable *> shared_codes_;
};

} // namespace nereid::codegen
