#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <llvm/IR/DIBuilder.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "base/result.h"
#include "codegen/analysis/axis_info.h"
#include "codegen/analysis/value_ranges.h"
#include "codegen/assign/layout_choice.h"
#include "codegen/assign/memory_layout.h"
#include "codegen/convert/convert_plan.h"
#include "codegen/plan/kernel_plan.h"
#include "codegen/schedule/lds_pipeline_contract.h"
#include "codegen/schedule/prefetch_plan.h"

namespace nereid::codegen {

/// The elements that a lane holds of a tile, by register number of its layout.
using Registers = std::vector<llvm::Value *>;

struct Tile {
  LinearLayout layout;
  Registers registers;
};

/// A number as the sum of what differs between threads, what does not, and a constant. `varying` is an i64,
/// or, with a limit, an i32 that is not negative and less than the limit; null parts are zero.
struct Offset {
  static constexpr uint64_t narrow_limit = uint64_t(1) << 31;

  llvm::Value *varying = nullptr;
  uint64_t limit = 0;
  llvm::Value *uniform = nullptr; ///< i64
  Interval range{0, 0};           ///< of `uniform`
  int64_t constant = 0;
};

/// The LLVM type of one element (an i1 is an i1), or of a global pointer.
llvm::Type *llvm_type(llvm::LLVMContext &context, const ir::Type &type);
llvm::Type *llvm_type(llvm::LLVMContext &context, ir::Element element);

/// Turns one function into one kernel. Values are asked for in a layout (`get`); cheap values are made on
/// demand, others are converted from their home. Members are grouped by the file that implements them.
class Lowering {
public:
  Lowering(const KernelPlan &plan, llvm::Module &module);
  Status run();
  /// What the code of LDS pipelines keeps.
  std::vector<PipelineContract> take_contracts() { return std::move(contracts_); }
  /// Of the operation whose code is being made.
  SourceLine place() const { return current_ ? function_.place(*current_) : SourceLine{}; }

private:
  friend class IterationTemplate;
  friend class LdsPipelineEmitter;
  friend class OperandMemory;
  friend class PrefetchLoopEmitter;

  // --- lower.cpp: the walk over operations, values in layouts ---
  void lower_block(const ir::Block &block);
  void lower_op(const ir::Op &op);
  void set_line(const ir::Op &op);
  /// Sticky: the first error wins, and lowering goes on with poison until the operation is done.
  void fail(const ir::Op &op, std::string message, std::string remedy = {});
  void fail(Error error);
  const ir::Type &type(ir::ValueId value) const { return function_.type(value); }
  llvm::Value *scalar(ir::ValueId value);
  Registers get(ir::ValueId value, const LinearLayout &layout);
  Registers make(ir::ValueId value, const LinearLayout &layout);
  void define(ir::ValueId value, LinearLayout layout, Registers registers);
  void define_scalar(ir::ValueId value, llvm::Value *scalar);
  /// The layout in which a value can be had without moving it.
  LinearLayout natural_layout(ir::ValueId value) const;
  /// As natural_layout, and through renamings; copies among registers left out.
  LinearLayout operand_home(ir::ValueId value) const;
  /// The result of a pure operation, number `result`, in a layout.
  Registers compute(const ir::Op &op, unsigned result, const LinearLayout &layout);
  const LinearLayout &scalars() const { return scalar_layout_; }

  // --- lower_positions.cpp: who am I ---
  /// The part of the flat coordinates that lane and wave give; registers add theirs by xor.
  llvm::Value *flat_of_thread(const LinearLayout &layout);
  llvm::Value *linear(llvm::Value *bits, const std::vector<uint64_t> &bases, llvm::Value *sum);
  static uint64_t flat_of_register(const LinearLayout &layout, uint32_t reg);
  /// In a layout of one dimension: what the odd index of a register adds to its coordinate.
  static uint64_t odd_part_of_register(const LinearLayout &layout, uint32_t reg);
  /// True in the one thread that owns what it holds of a layout; null when all do.
  llvm::Value *owner_condition(const LinearLayout &layout);
  llvm::Value *test_bits(llvm::Value *value, uint32_t mask);

  // --- lower_shape.cpp ---
  Registers compute_shape(const ir::Op &op, unsigned result, const LinearLayout &layout);
  Registers compute_arange(const ir::Op &op, const LinearLayout &layout);

  // --- lower_elementwise.cpp, lower_casts.cpp ---
  llvm::Value *elementwise(const ir::Op &op, const Registers &operands);
  llvm::Value *binary(const ir::Op &op, ir::Element element, llvm::Value *a, llvm::Value *b);
  llvm::Value *integer_binary(const ir::Op &op, ir::Element element, llvm::Value *a, llvm::Value *b);
  llvm::Value *float_binary(ir::Opcode opcode, llvm::Value *a, llvm::Value *b);
  llvm::Value *compare(ir::Opcode opcode, ir::Element element, llvm::Value *a, llvm::Value *b);
  llvm::Value *unary(const ir::Op &op, ir::Element element, llvm::Value *a);
  llvm::Value *cast(llvm::Value *value, ir::Element from, ir::Element to);
  llvm::Value *widen(llvm::Value *value);                       ///< bf16, f16 to f32
  llvm::Value *narrow(llvm::Value *value, ir::Element element); ///< f32 to bf16, f16
  llvm::Value *cvt_scaled(const ir::Op &op, const Registers &operands);
  llvm::Value *inline_asm(const ir::Op &op, const Registers &operands);

  // --- lower_packing.cpp: elements in dwords ---
  /// An element that was cut out of a dword is remembered with its place there, so that packing it again, or
  /// selecting it by an instruction's byte select, needs no code.
  struct Piece {
    llvm::Value *dword;
    unsigned bit;
  };
  Registers unpack(llvm::Value *vector, llvm::Type *element, unsigned count);
  Registers pack(const Registers &elements, unsigned element_bits);
  llvm::Value *to_bits(llvm::Value *value);
  llvm::Value *from_bits(llvm::Value *bits, llvm::Type *type);
  llvm::Value *dwords_to_vector(const Registers &dwords);

  // --- lower_address.cpp ---
  using Offsets = std::vector<Offset>; ///< by register
  struct Address {
    llvm::Value *base;
    Offset offset; ///< bytes
    bool uniform_base = true;
  };
  Registers addresses(ir::ValueId pointer, const LinearLayout &layout);
  std::vector<Address> parts_of_pointer(ir::ValueId pointer, const LinearLayout &layout);
  Offsets offsets(ir::ValueId value, const LinearLayout &layout);
  Offsets make_offsets(ir::ValueId value, const LinearLayout &layout);
  Offsets arange_offsets(const ir::Op &op, const LinearLayout &layout);
  static std::vector<uint32_t> spread(const LinearLayout &layout, const LinearLayout &once);
  Offset scalar_offset(ir::ValueId value);
  void open_scope();
  void close_scope();

  // --- lower_buffer.cpp: accesses through buffer descriptors ---
  /// One access: resource, the threads' offset (masked threads: out of range), the scalar offset. Bytes.
  struct BufferAccess {
    llvm::Value *resource, *offset, *scalar_offset;
  };
  /// By register of `layout`; masks as layout's registers or none. Nothing if the offsets of the threads are
  /// not known to fit 31 bits.
  std::optional<std::vector<BufferAccess>> buffer_accesses(ir::ValueId pointer, const LinearLayout &layout,
                                                           const Registers &masks);
  Address scalar_pointer(ir::ValueId pointer);
  llvm::Value *buffer_load(const ir::Op &op, const BufferAccess &access, llvm::Type *type);
  void buffer_store(const BufferAccess &access, llvm::Value *vector);

  // --- lower_memory.cpp, lower_atomic.cpp ---
  void lower_load(const ir::Op &op);
  /// Starts a load without a branch, masked threads get zeros: what each access moves. Nothing if that takes
  /// branches.
  std::optional<Registers> issue_load(const ir::Op &op);
  void finish_load(const ir::Op &op, Registers vectors);
  Registers load_in_branches(const ir::Op &op);
  void define_loaded(const ir::Op &op, const Registers &vectors);
  void lower_store(const ir::Op &op);
  void lower_atomic(const ir::Op &op);
  llvm::Value *atomic_of(const ir::Op &op, llvm::Value *pointer, llvm::Value *value, llvm::Value *desired);
  void atomic_fence(const ir::Op &op, bool before);
  Registers share_old_values(const Registers &old, const LinearLayout &layout, llvm::Value *owner);
  llvm::Value *load_vector(const ir::Op &op, llvm::Value *pointer, unsigned count, llvm::Align align);
  llvm::Type *access_type(ir::Element element, unsigned count);
  struct Accesses;
  Accesses accesses_of(ir::ValueId pointer, std::optional<ir::ValueId> mask,
                       const LinearLayout &layout) const;
  Registers fills(const ir::Op &op, const Accesses &accesses);
  llvm::Align access_alignment(ir::ValueId pointer, unsigned elements) const;
  /// Runs `body` where `condition` holds; `body` gives values, which are merged with `otherwise`.
  Registers guarded(llvm::Value *condition, const Registers &otherwise,
                    const std::function<Registers()> &body);
  llvm::Value *anchored(llvm::Value *vector);
  /// A barrier where other waves' accesses to the same memory must be over first.
  void order_accesses(const ir::Op &op);
  std::optional<ir::ValueId> root(ir::ValueId pointer) const;

  // --- lower_convert.cpp, lower_lds.cpp: between layouts ---
  Registers convert(const Registers &registers, const LinearLayout &from, const LinearLayout &to);
  Registers emit(const RenameStep &step, const Registers &old);
  Registers emit(const SelectStep &step, const Registers &old);
  Registers emit(const ShuffleStep &step, const Registers &old);
  Registers emit(const SwapStep &step, const Registers &old);
  Registers emit(const LdsStep &step, const Registers &old);
  llvm::Type *lds_access_type(unsigned bytes);
  void write_lds(const LdsStep &step, unsigned pass, const Registers &old, llvm::Value *base);
  void read_lds(const LdsStep &step, unsigned pass, llvm::Type *type, llvm::Value *base, Registers &result);
  Registers swap_dwords(const SwapStep &step, const Registers &dwords, unsigned reg_bit);
  Registers by_packed_dwords(const Registers &old, unsigned pack_bits,
                             const std::function<Registers(const Registers &, unsigned)> &move);
  llvm::Value *thread_offset(const std::vector<uint32_t> &lane_bases,
                             const std::vector<uint32_t> &wave_bases);
  llvm::Value *lds_address(const LdsSide &side, const LdsAccess &access, llvm::Value *thread, unsigned bytes,
                           llvm::Value *base);
  llvm::Value *lds(unsigned bytes);
  void barrier();
  llvm::Value *shuffle_xor(llvm::Value *value, unsigned lane_bit);
  llvm::Value *uniform(llvm::Value *value); ///< the same in all lanes: into scalar registers
  llvm::Value *by_dwords(llvm::Value *value, const std::function<llvm::Value *(llvm::Value *)> &move);

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
  void lower_lds_pipeline(const LdsPipeline &pipeline);
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
  void expect_accesses(const ir::Block &block);
  void lower_statement(const ir::Op &op);
  llvm::BasicBlock *new_block(const char *name);

  // --- prefetch_loop.cpp ---
  void lower_prefetch_loop(Loop &loop, const PrefetchPlan &plan);

  const KernelPlan &plan_;
  const FunctionIndex &index_;
  const ir::Function &function_;
  const AxisAnalysis &axes_;
  const LayoutChoice &layouts_;
  const ValueRanges &ranges_;
  llvm::Module &module_;
  llvm::LLVMContext &context_;
  llvm::IRBuilder<> builder_;
  llvm::DIBuilder debug_;
  llvm::DISubprogram *subprogram_ = nullptr;
  llvm::Function *kernel_ = nullptr;
  llvm::Value *lane_ = nullptr; ///< 0..63
  llvm::Value *wave_ = nullptr; ///< uniform
  LinearLayout scalar_layout_;
  std::unordered_map<ir::ValueId, Tile> homes_;
  /// Values already made in some layout, by region: what a region made is gone when it ends.
  std::vector<std::unordered_map<ir::ValueId, std::vector<Tile>>> made_;
  std::vector<std::unordered_map<ir::ValueId, std::vector<std::pair<LinearLayout, Offsets>>>> offsets_made_;
  std::unordered_map<llvm::Value *, Piece> pieces_;
  std::optional<Error> error_;
  /// Masks that hold everywhere in the code that is being lowered.
  std::unordered_set<ir::ValueId> known_true_;
  const ir::Op *current_ = nullptr; ///< the operation whose code is being made
  /// The loop whose body is being lowered, where its rounds are dealt to the waves.
  const ir::Op *wave_split_loop_ = nullptr;
  /// Of the pipeline under construction: whether the round whose loads are issued exists (null: it does), its
  /// plan, loads already issued for the round that is computed.
  llvm::Value *iteration_exists_ = nullptr;
  const PrefetchPlan *pipeline_ = nullptr;
  std::unordered_map<const ir::Op *, Registers> issued_;

  unsigned loop_depth_ = 0;
  /// Which copy of a pipeline's body is being lowered, of how many.
  unsigned exchange_copy_ = 0, exchange_copies_ = 1;
  std::unordered_map<const ir::Op *, llvm::GlobalVariable *> shared_codes_;
  unsigned shared_bytes_ = 0; ///< of LDS
  llvm::GlobalVariable *lds_ = nullptr;
  unsigned lds_bytes_ = 0;
  /// Accesses since the last barrier, for order_accesses.
  struct Access {
    std::optional<ir::ValueId> root;
    ir::ValueId pointer;
    bool writes;
    LinearLayout layout;
  };
  std::vector<Access> accesses_;
  std::vector<PipelineContract> contracts_;
};

} // namespace nereid::codegen
