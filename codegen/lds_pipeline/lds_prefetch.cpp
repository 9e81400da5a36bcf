// Loops with LDS prefetch: copies of later iterations' tiles before each read, around a body that runs as it
// stands.
#include <algorithm>

#include "codegen/assign/memory_layout.h"
#include "codegen/lds_pipeline/operand_memory.h"
#include "codegen/lds_pipeline/waits.h"
#include "codegen/lower/body_copy.h"
#include "codegen/lower/llvm_types.h"
#include "codegen/lower/lowering.h"
#include "codegen/lower/value_layout.h"
#include "codegen/schedule/first_use.h"

namespace nereid::codegen {

namespace {

/// The loop is unrolled by the number of buffers. Where the body needs the tile of a load, all waves meet:
/// each has waited for its own copies of the tile, and all are done with the buffer of the iteration before,
/// to which the next copies of this load go. So a load costs one barrier, and the copies of the others stay
/// in flight at it. Iterations left over after the unrolled loop follow without copies.
class LdsPrefetchEmitter {
public:
  LdsPrefetchEmitter(Lowering &lowering, const LdsPrefetch &plan)
      : lowering_(lowering), plan_(plan), loop_(*plan.loop.op), body_(loop_.blocks.front()),
        builder_(lowering.context.builder),
        memory_(lowering, plan.loads, plan.buffers, OperandMemory::Kind::Prefetch) {}

  void emit();

private:
  /// Where an iteration stands: its number, the copy of the body that computes it, and whether it issues the
  /// copies of a later one.
  struct Turn {
    llvm::Value *iteration;
    unsigned copy;
    bool issues;
  };

  void note_contracts();
  void count_iterations();
  llvm::Value *index_at(llvm::Value *iteration);
  void define_scalars(llvm::Value *index, const LlvmValues &looked_up);
  void stand_at(llvm::Value *iteration, const LlvmValues &looked_up);
  LlvmValues lookup_addresses(llvm::Value *iteration);
  llvm::Value *load_lookup(const ScalarLookup &lookup, llvm::Value *address);
  LlvmValues load_lookups(const LlvmValues &addresses);
  LlvmValues lookups_of(llvm::Value *iteration) { return load_lookups(lookup_addresses(iteration)); }
  llvm::Value *scalar_pointer(const ir::Op &load);
  llvm::Value *at_most_last(llvm::Value *iteration);
  void copy_first_iterations();
  void copy(size_t load, unsigned buffer, llvm::Value *iteration);
  CarriedValues emit_iteration(const Turn &turn, const CarriedValues &carried);
  void emit_load(size_t load, const Turn &turn, llvm::Value *copied);
  void define_read(size_t load, const LlvmValues &vectors);
  unsigned outstanding(size_t load, const Turn &turn) const;
  CarriedValues emit_unrolled(const CarriedValues &initial, llvm::BasicBlock *after);
  void emit_rest(CarriedValues carried);

  Lowering &lowering_;
  const LdsPrefetch &plan_;
  const ir::Op &loop_;
  const ir::Block &body_;
  llvm::IRBuilder<> &builder_;
  OperandMemory memory_;
  std::vector<LinearLayout> layouts_;                        ///< of the carried values
  llvm::Value *first_ = nullptr, *last_iteration_ = nullptr; ///< index of the first, number of the last
  llvm::Value *turns_ = nullptr, *rest_ = nullptr;           ///< of the unrolled loop, and what is left
  LlvmValues looked_up_;                                     ///< of the iteration that is copied next
  LlvmValues next_addresses_;                                ///< of the lookups of the one after
  llvm::BasicBlock *done_ = nullptr;
  std::vector<std::pair<llvm::BasicBlock *, CarriedValues>> exits_;
};

/// Reads of another load's copies count as that load's.
void LdsPrefetchEmitter::note_contracts() {
  for (size_t i = 0; i < plan_.loads.size(); ++i) {
    if (plan_.loads[i].source)
      continue;
    unsigned reads = 0;
    for (const PipelinedLoad &load : plan_.loads)
      reads += &load == &plan_.loads[i] || load.source == i ? load.read_count() : 0;
    lowering_.contracts.push_back({lowering_.context.plan.index.line(*plan_.loads[i].op), CodeTag::Pipeline,
                                   plan_.loads[i].copy_count(), reads, plan_.buffers,
                                   lowering_.context.function().options.waves == 1});
  }
}

/// Behind the test that there is one.
void LdsPrefetchEmitter::count_iterations() {
  llvm::Value *step = builder_.getInt32(static_cast<uint32_t>(plan_.loop.step));
  llvm::Value *distance = builder_.CreateSub(lowering_.values.scalar(loop_.operands[1]), first_);
  last_iteration_ = builder_.CreateUDiv(builder_.CreateSub(distance, builder_.getInt32(1)), step);
  llvm::Value *total = builder_.CreateAdd(last_iteration_, builder_.getInt32(1));
  llvm::Value *unroll = builder_.getInt32(plan_.buffers);
  turns_ = builder_.CreateUDiv(total, unroll);
  rest_ = builder_.CreateURem(total, unroll);
}

llvm::Value *LdsPrefetchEmitter::index_at(llvm::Value *iteration) {
  llvm::Value *step = builder_.getInt32(static_cast<uint32_t>(plan_.loop.step));
  return builder_.CreateAdd(first_, builder_.CreateMul(iteration, step));
}

/// `looked_up`: of the same iteration.
void LdsPrefetchEmitter::define_scalars(llvm::Value *index, const LlvmValues &looked_up) {
  lowering_.values.define_scalar(body_.arguments[0], index);
  for (size_t i = 0; i < looked_up.size(); ++i)
    for (const ir::Op *load : plan_.loop.lookups[i].loads)
      lowering_.values.define_scalar(load->result(), looked_up[i]);
  for (const ir::Op &op : body_.ops)
    if (op.results.size() == 1 && lowering_.context.type(op.result()).rank() == 0 &&
        ir::facts(op.opcode).effect == ir::OpEffect::Pure)
      lowering_.ops.emit(op);
}

/// Masks and bases that move are those of an iteration.
void LdsPrefetchEmitter::stand_at(llvm::Value *iteration, const LlvmValues &looked_up) {
  if (std::none_of(plan_.loads.begin(), plan_.loads.end(),
                   [](const PipelinedLoad &load) { return load.has_iteration_mask || load.moving_base; }))
    return;
  RegionCache::Scope region(lowering_.cache);
  define_scalars(index_at(iteration), looked_up);
  for (size_t load = 0; load < plan_.loads.size(); ++load) {
    memory_.apply_iteration_masks(load);
    memory_.apply_iteration_base(load);
  }
}

llvm::Value *LdsPrefetchEmitter::at_most_last(llvm::Value *iteration) {
  return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, iteration, last_iteration_);
}

llvm::Value *LdsPrefetchEmitter::scalar_pointer(const ir::Op &load) {
  const LinearLayout layout = scalar_layout(static_cast<int>(lowering_.context.waves()));
  return lowering_.addresses.pointers(load.operands[0], layout).front();
}

LlvmValues LdsPrefetchEmitter::lookup_addresses(llvm::Value *iteration) {
  LlvmValues result;
  if (plan_.loop.lookups.empty())
    return result;
  RegionCache::Scope region(lowering_.cache);
  lowering_.values.define_scalar(body_.arguments[0], index_at(iteration));
  for (const ir::Op *op : plan_.loop.address_ops)
    lowering_.ops.emit(*op);
  for (const ScalarLookup &lookup : plan_.loop.lookups)
    result.push_back(scalar_pointer(*lookup.loads.front()));
  return result;
}

/// By a scalar load: a vector memory instruction would count at the waits for copies.
llvm::Value *LdsPrefetchEmitter::load_lookup(const ScalarLookup &lookup, llvm::Value *address) {
  constexpr unsigned constant_address_space = 4;
  const ir::Op &load = *lookup.loads.front();
  lowering_.context.set_line(load);
  llvm::LLVMContext &context = builder_.getContext();
  const ir::Element element = lowering_.context.type(load.result()).element;
  llvm::Value *pointer =
      builder_.CreateAddrSpaceCast(address, llvm::PointerType::get(context, constant_address_space));
  return builder_.CreateAlignedLoad(llvm_type(context, element), pointer,
                                    llvm::Align(ir::byte_size(element)));
}

LlvmValues LdsPrefetchEmitter::load_lookups(const LlvmValues &addresses) {
  LlvmValues result;
  for (size_t i = 0; i < addresses.size(); ++i)
    result.push_back(load_lookup(plan_.loop.lookups[i], addresses[i]));
  return result;
}

void LdsPrefetchEmitter::copy(size_t load, unsigned buffer, llvm::Value *iteration) {
  for (unsigned n = 0; n < plan_.loads[load].copy_count(); ++n)
    memory_.copy(load, n, buffer, iteration);
}

/// In the order of the loop, so that what is in flight is the same at its top.
void LdsPrefetchEmitter::copy_first_iterations() {
  for (unsigned s = 0; s + 1 < plan_.buffers; ++s) {
    llvm::Value *iteration = at_most_last(builder_.getInt32(s));
    stand_at(iteration, lookups_of(iteration));
    for (size_t load = 0; load < plan_.loads.size(); ++load)
      for (unsigned n = 0; n < plan_.loads[load].copy_count(); ++n) {
        memory_.set_tag(s == 0 && n == 0 ? CodeTag::FirstCopy : CodeTag::Pipeline);
        memory_.copy(load, n, s, iteration);
        order_barrier(builder_, nothing_crosses);
      }
  }
  memory_.set_tag(CodeTag::Pipeline);
}

/// Copies issued after those of a load's tile when that is read.
unsigned LdsPrefetchEmitter::outstanding(size_t load, const Turn &turn) const {
  const unsigned all = plan_.copies(), own = plan_.loads[load].copy_count();
  if (turn.issues)
    return (plan_.buffers - 1) * all - own;
  unsigned later = (plan_.buffers - 2 - turn.copy) * all;
  for (size_t other = load + 1; other < plan_.loads.size(); ++other)
    later += plan_.loads[other].copy_count();
  return later;
}

/// `copied`: the iteration that the copies are of, or null. Arithmetic stays on its side of the barrier:
/// LLVM's scheduler would have the operands of several products in registers.
void LdsPrefetchEmitter::emit_load(size_t load, const Turn &turn, llvm::Value *copied) {
  order_barrier(builder_, nothing_crosses);
  if (!plan_.loads[load].source) {
    wait(builder_, outstanding(load, turn), true);
    builder_.CreateIntrinsic(llvm::Intrinsic::amdgcn_s_barrier, {});
    order_barrier(builder_, nothing_crosses);
  }
  if (turn.issues)
    copy(load, (turn.copy + plan_.buffers - 1) % plan_.buffers, copied);
  LlvmValues vectors;
  for (size_t group = 0; group < plan_.loads[load].groups.first.size(); ++group)
    vectors.push_back(memory_.read({load, group}, turn.copy));
  if (turn.issues && load == 0)
    looked_up_ = load_lookups(next_addresses_);
  define_read(load, vectors);
}

void LdsPrefetchEmitter::define_read(size_t load, const LlvmValues &vectors) {
  const PipelinedLoad &of = plan_.loads[load];
  const ir::ValueId result = of.op->result();
  llvm::Type *element = llvm_type(builder_.getContext(), lowering_.context.type(result).element);
  const LinearLayout layout = assigned_layout(lowering_.context.plan, result);
  Registers registers(layout.registers());
  for (uint32_t group = 0; group < vectors.size(); ++group) {
    const unsigned count = of.groups.access.elements();
    const Registers elements = lowering_.packing.unpack(vectors[group], element, count);
    for (unsigned n = 0; n < count; ++n)
      registers[of.groups.member(group, n)] = elements[n];
  }
  lowering_.values.define(result, layout, registers);
}

CarriedValues LdsPrefetchEmitter::emit_iteration(const Turn &turn, const CarriedValues &carried) {
  lowering_.context.set_line(loop_);
  llvm::Value *copied = nullptr;
  if (turn.issues) {
    llvm::Value *later = builder_.CreateAdd(turn.iteration, builder_.getInt32(plan_.buffers - 1));
    copied = at_most_last(later);
    stand_at(copied, looked_up_);
    next_addresses_ = lookup_addresses(at_most_last(builder_.CreateAdd(later, builder_.getInt32(1))));
  }
  BodyCopy body{turn.copy, plan_.buffers};
  for (const PipelinedLoad &load : plan_.loads)
    body.loads[load.op] = [] {};
  for (const ScalarLookup &lookup : plan_.loop.lookups)
    for (const ir::Op *load : lookup.loads)
      body.loads[load] = [=, this, &lookup] {
        lowering_.values.define_scalar(load->result(), load_lookup(lookup, scalar_pointer(*load)));
      };
  for (size_t load = 0; load < plan_.loads.size(); ++load) {
    std::function<void()> &at_use =
        body.loads[&first_use(lowering_.context.plan.index, *plan_.loads[load].op)];
    at_use = [=, this, earlier = at_use] {
      if (earlier)
        earlier();
      emit_load(load, turn, copied);
    };
  }
  return lowering_.loops.emit_iteration(loop_, layouts_, index_at(turn.iteration), carried, body);
}

CarriedValues LdsPrefetchEmitter::emit_unrolled(const CarriedValues &initial, llvm::BasicBlock *after) {
  llvm::BasicBlock *start = builder_.GetInsertBlock(), *block = lowering_.context.new_block("prefetch");
  builder_.CreateCondBr(builder_.CreateICmpNE(turns_, builder_.getInt32(0)), block, after);
  builder_.SetInsertPoint(block);
  llvm::PHINode *turn = builder_.CreatePHI(builder_.getInt32Ty(), 2);
  turn->addIncoming(builder_.getInt32(0), start);
  const CarriedValues in_loop = phis_of(builder_, initial);
  add_incoming(in_loop, initial, start);
  const CarriedValues looked_up = {looked_up_};
  const CarriedValues looked_up_in_loop = phis_of(builder_, looked_up);
  add_incoming(looked_up_in_loop, looked_up, start);
  looked_up_ = looked_up_in_loop.front();
  llvm::Value *first = builder_.CreateMul(turn, builder_.getInt32(plan_.buffers));
  CarriedValues carried = in_loop;
  for (unsigned s = 0; s < plan_.buffers; ++s)
    carried = emit_iteration({builder_.CreateAdd(first, builder_.getInt32(s)), s, true}, carried);
  lowering_.context.set_line(loop_);
  llvm::BasicBlock *end = builder_.GetInsertBlock();
  llvm::Value *next = builder_.CreateAdd(turn, builder_.getInt32(1));
  builder_.CreateCondBr(builder_.CreateICmpULT(next, turns_), block, after);
  turn->addIncoming(next, end);
  add_incoming(in_loop, carried, end);
  add_incoming(looked_up_in_loop, {looked_up_}, end);

  builder_.SetInsertPoint(after);
  const CarriedValues behind = phis_of(builder_, initial);
  add_incoming(behind, initial, start);
  add_incoming(behind, carried, end);
  return behind;
}

void LdsPrefetchEmitter::emit_rest(CarriedValues carried) {
  llvm::Value *first = builder_.CreateMul(turns_, builder_.getInt32(plan_.buffers));
  for (unsigned s = 0; s + 1 < plan_.buffers; ++s) {
    llvm::BasicBlock *more = lowering_.context.new_block("prefetch.rest");
    exits_.emplace_back(builder_.GetInsertBlock(), carried);
    builder_.CreateCondBr(builder_.CreateICmpUGT(rest_, builder_.getInt32(s)), more, done_);
    builder_.SetInsertPoint(more);
    carried = emit_iteration({builder_.CreateAdd(first, builder_.getInt32(s)), s, false}, carried);
    lowering_.context.set_line(loop_);
  }
  exits_.emplace_back(builder_.GetInsertBlock(), carried);
  builder_.CreateBr(done_);
}

void LdsPrefetchEmitter::emit() {
  note_contracts();
  for (const PipelinedLoad &load : plan_.loads)
    lowering_.order.before(*load.op);
  for (const ScalarLookup &lookup : plan_.loop.lookups)
    lowering_.order.before(*lookup.loads.front());
  lowering_.context.set_line(loop_);
  CarriedValues initial;
  for (size_t i = 0; i < loop_.results.size(); ++i) {
    layouts_.push_back(assigned_layout(lowering_.context.plan, body_.arguments[i + 1]));
    initial.push_back(lowering_.edges.leave(loop_.operands[i + 3], layouts_[i]));
  }
  first_ = lowering_.values.scalar(loop_.operands[0]);
  llvm::BasicBlock *start = lowering_.context.new_block("prefetch.start"),
                   *rest = lowering_.context.new_block("prefetch.rest");
  done_ = lowering_.context.new_block("prefetch.done");
  exits_.emplace_back(builder_.GetInsertBlock(), initial);
  llvm::Value *any = builder_.CreateICmpSLT(first_, lowering_.values.scalar(loop_.operands[1]));
  builder_.CreateCondBr(any, start, done_);
  builder_.SetInsertPoint(start);
  count_iterations();
  {
    RegionCache::Scope region(lowering_.cache);
    define_scalars(first_, lookups_of(builder_.getInt32(0)));
    memory_.emit_addresses();
  }
  meet_all_waves(builder_); // an earlier loop may still read the buffers
  copy_first_iterations();
  looked_up_ = lookups_of(at_most_last(builder_.getInt32(plan_.buffers - 1)));
  emit_rest(emit_unrolled(initial, rest));

  builder_.SetInsertPoint(done_);
  const CarriedValues results = phis_of(builder_, initial);
  for (const auto &[from, values] : exits_)
    add_incoming(results, values, from);
  for (size_t i = 0; i < results.size(); ++i)
    lowering_.edges.arrive(loop_.results[i], layouts_[i], results[i]);
  wait(builder_, 0, false); // no copy may be in flight when the workgroup ends
}

} // namespace

void emit_lds_prefetch(Lowering &parts, const LdsPrefetch &plan) { LdsPrefetchEmitter(parts, plan).emit(); }

} // namespace nereid::codegen
