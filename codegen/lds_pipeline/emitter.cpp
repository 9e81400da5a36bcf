#include <algorithm>

#include <llvm/IR/InlineAsm.h>

#include "codegen/lds_pipeline/emitter.h"
#include "codegen/lower/lower.h"

namespace nereid::codegen {

namespace {

/// What may cross a scheduling barrier.
constexpr unsigned nothing_crosses = 0;
constexpr unsigned only_vector_memory_stays = 0x38f;
constexpr unsigned arithmetic_crosses = 6;
/// Kinds of a group barrier.
constexpr unsigned matrix_group = 8, vector_memory_group = 32, lds_read_group = 256;
constexpr unsigned all_lds = 15; ///< no wait for LDS

} // namespace

bool Lowering::lower_lds_pipeline(const ir::Op &op) {
  std::optional<LdsPipeline> loop = find_lds_pipeline(index_, axes_, layouts_, op);
  return loop && LdsPipelineEmitter(*this, *loop).emit();
}

LdsPipelineEmitter::LdsPipelineEmitter(Lowering &lowering, const LdsPipeline &loop)
    : lowering_(lowering), loop_(loop), body_(loop.op->blocks.front()), builder_(lowering.builder_),
      i32_(lowering.builder_.getInt32Ty()) {
  for (size_t i = 0; i < loop.loads.size(); ++i) {
    const ir::Op &op = *loop.loads[i].op;
    const ir::Type &type = lowering.type(op.result());
    unsigned bytes = ir::byte_size(type.element);
    const AxisInfo *mask = op.operands.size() > 1 ? &lowering.axes_[op.operands[1]] : nullptr;
    const AxisInfo &pointer = lowering.axes_[op.operands[0]];
    auto groups_of = [&](const LinearLayout &layout) {
      return group_registers(layout, vector_access(layout, pointer, mask, bytes));
    };
    LoadState &state = loads_.emplace_back();
    state.groups = groups_of(lowering.layouts_.layout(op.result()));
    if (loop.loads[i].through_lds) {
      state.copy_layout = *lds_copy_layout(lowering.function_, lowering.axes_, op);
      state.copies = groups_of(swizzled(i, state.copy_layout));
      state.image_bytes = static_cast<unsigned>(type.count() * bytes);
    }
  }
}

void LdsPipelineEmitter::order_barrier(unsigned may_cross) {
  builder_.CreateIntrinsic(llvm::Intrinsic::amdgcn_sched_barrier, {}, {builder_.getInt32(may_cross)});
}

void LdsPipelineEmitter::group(unsigned mask, unsigned count) {
  builder_.CreateIntrinsic(llvm::Intrinsic::amdgcn_sched_group_barrier, {},
                           {builder_.getInt32(mask), builder_.getInt32(count), builder_.getInt32(0)});
}

void LdsPipelineEmitter::wait(unsigned vector_memory, bool lds) {
  constexpr unsigned no_export_wait = 7 << 4;
  unsigned counts =
      (vector_memory & 15) | (vector_memory >> 4) << 14 | no_export_wait | (lds ? 0 : all_lds) << 8;
  builder_.CreateIntrinsic(llvm::Intrinsic::amdgcn_s_waitcnt, {}, {builder_.getInt32(counts)});
}

/// All waves' copies of the next stage have arrived, and all are done with what the next copies overwrite.
void LdsPipelineEmitter::wait_and_barrier(unsigned outstanding) {
  constexpr unsigned most = 62; // 63 means no wait
  lowering_.set_line(*loop_.op);
  order_barrier(only_vector_memory_stays);
  wait(std::min(outstanding, most), true);
  builder_.CreateIntrinsic(llvm::Intrinsic::amdgcn_s_barrier, {});
  order_barrier(only_vector_memory_stays);
}

/// Rounds in all, and those in which all conditions hold.
void LdsPipelineEmitter::count_iterations() {
  first_ = lowering_.scalar(loop_.op->operands[0]);
  last_ = lowering_.scalar(loop_.op->operands[1]);
  llvm::Value *any = builder_.CreateICmpSLT(first_, last_);
  llvm::Value *zero = builder_.getInt32(0);
  llvm::Value *step = builder_.getInt32(static_cast<uint32_t>(loop_.step));
  llvm::Value *distance = builder_.CreateSub(last_, first_);
  llvm::Value *iterations = builder_.CreateAdd(
      builder_.CreateUDiv(builder_.CreateSub(distance, builder_.getInt32(1)), step), builder_.getInt32(1));
  total_ = builder_.CreateSelect(any, iterations, zero);
  whole_ = total_;
  if (loop_.conditions.empty())
    return;
  llvm::Value *complete = builder_.CreateUDiv(distance, step);
  llvm::Value *holds = builder_.CreateAnd(any, builder_.CreateICmpNE(complete, zero));
  llvm::Value *before_last = builder_.CreateSub(complete, builder_.getInt32(1));
  lowering_.open_scope();
  lower_scalars(builder_.CreateAdd(first_, builder_.CreateMul(before_last, step)));
  for (const auto &[value, condition] : loop_.conditions) {
    llvm::Value *bound = builder_.CreateSExt(lowering_.scalar(condition.bound), builder_.getInt64Ty());
    llvm::Value *rising = greatest(condition.rising);
    holds = builder_.CreateAnd(holds, condition.inclusive ? builder_.CreateICmpSLE(rising, bound)
                                                          : builder_.CreateICmpSLT(rising, bound));
  }
  lowering_.close_scope();
  whole_ = builder_.CreateSelect(holds, complete, zero);
}

std::vector<LdsPipelineEmitter::LoadGroup> LdsPipelineEmitter::direct_units() const {
  std::vector<LoadGroup> units;
  for (size_t i = 0; i < loads_.size(); ++i)
    for (size_t g = 0; !loop_.loads[i].through_lds && g < loads_[i].groups.first.size(); ++g)
      units.push_back({i, g});
  return units;
}

std::vector<llvm::Value **> LdsPipelineEmitter::carried(unsigned first_stage) {
  std::vector<llvm::Value **> result;
  for (Values &tiles : accumulators_)
    for (llvm::Value *&tile : tiles)
      result.push_back(&tile);
  for (unsigned s = 0; s < schedule_.load_distance(); ++s)
    for (LoadGroup unit : direct_units())
      result.push_back(&stages_[first_stage + s].loaded[unit.load][unit.group]);
  for (LoadGroup unit : chunk_reads_[0])
    result.push_back(&stages_[first_stage].loaded[unit.load][unit.group]);
  return result;
}

/// Sums that are to live in AGPRs start and end there: else LLVM moves each of them once a round.
llvm::Value *LdsPipelineEmitter::in_accumulators(llvm::Value *sum) {
  if (!schedule_.accumulators_in_agprs)
    return sum;
  auto *signature = llvm::FunctionType::get(sum->getType(), {sum->getType()}, false);
  return builder_.CreateCall(signature, llvm::InlineAsm::get(signature, "", "=a,0", false), {sum});
}

void LdsPipelineEmitter::issue_load(LoadGroup unit, unsigned stage) {
  const LoadState &state = loads_[unit.load];
  stages_.at(stage).loaded[unit.load][unit.group] =
      load_unit(unit, state.offsets[unit.group], induction_offsets_[state.moving].current);
}

/// The scalar offsets go on to the next stage, and stay at the last round's.
void LdsPipelineEmitter::advance() {
  for (InductionOffset &moving : induction_offsets_)
    if (moving.change != 0)
      moving.current = builder_.CreateBinaryIntrinsic(
          llvm::Intrinsic::umin,
          builder_.CreateAdd(moving.current, builder_.getInt32(static_cast<uint32_t>(moving.change))),
          moving.last);
}

/// In the order of the loop, so that what is in flight is the same at its top.
void LdsPipelineEmitter::emit_prologue() {
  for (unsigned s = 0; s < schedule_.buffers; ++s)
    stages_[s] = new_stage(template_);
  llvm::Value *last_iteration = builder_.CreateSub(whole_, builder_.getInt32(1));
  for (InductionOffset &moving : induction_offsets_)
    moving.last = builder_.CreateMul(last_iteration, builder_.getInt32(static_cast<uint32_t>(moving.change)));
  auto at_stage = [&](const LoadState &state, unsigned stage) -> llvm::Value * {
    const InductionOffset &moving = induction_offsets_[state.moving];
    llvm::Value *offset = builder_.getInt32(stage * static_cast<uint32_t>(moving.change));
    return stage == 0 ? offset : builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, offset, moving.last);
  };
  for (unsigned s = 0; s < schedule_.buffers; ++s) {
    if (s > 0)
      for (LoadGroup unit : direct_units()) {
        const LoadState &state = loads_[unit.load];
        stages_[s - 1].loaded[unit.load][unit.group] =
            load_unit(unit, state.offsets[unit.group], at_stage(state, s - 1));
        order_barrier(nothing_crosses);
      }
    for (size_t i = 0; i < loads_.size(); ++i)
      for (size_t n = 0; loop_.loads[i].through_lds && n < loads_[i].copies.first.size(); ++n) {
        part_ = s == 0 && n == 0 ? first_copy_column : pipeline_column;
        copy(i, n, s, loads_[i].offsets[n], at_stage(loads_[i], s));
        part_ = pipeline_column;
        order_barrier(nothing_crosses);
      }
  }
  for (InductionOffset &moving : induction_offsets_)
    moving.current = builder_.CreateBinaryIntrinsic(
        llvm::Intrinsic::umin, builder_.getInt32(moving.distance * static_cast<uint32_t>(moving.change)),
        moving.last);
  wait_and_barrier((schedule_.buffers - 1) * (demand_.copies + demand_.loads));
  for (LoadGroup unit : chunk_reads_[0])
    stages_[0].loaded[unit.load][unit.group] = read_unit(unit, 0);
}

/// Memory operations stand one at a time between matrix instructions, those of vector memory and reads of
/// LDS in turn, over the first nine tenths of the chunk.
void LdsPipelineEmitter::emit_stage(unsigned number, bool issues, bool reads_next, unsigned outstanding) {
  auto chunks = static_cast<unsigned>(chunks_.size());
  unsigned loaded_stage = number + schedule_.load_distance(), copied_stage = number + schedule_.buffers;
  if (issues)
    stages_.try_emplace(loaded_stage, new_stage(template_));
  for (unsigned chunk = 0; chunk < chunks; ++chunk) {
    std::vector<std::function<void()>> memory, reads;
    bool is_last = chunk + 1 == chunks;
    unsigned read_stage = is_last ? number + 1 : number;
    if (is_last && reads_next)
      wait_and_barrier(outstanding);
    if (!is_last || reads_next) {
      if (is_last)
        stages_.try_emplace(read_stage, new_stage(template_));
      for (LoadGroup unit : chunk_reads_[is_last ? 0 : chunk + 1])
        reads.emplace_back([this, unit, read_stage] {
          stages_.at(read_stage).loaded[unit.load][unit.group] =
              read_unit(unit, read_stage % schedule_.buffers);
        });
    }
    if (issues && chunk == 0)
      for (LoadGroup unit : direct_units())
        memory.emplace_back([this, unit, loaded_stage] { issue_load(unit, loaded_stage); });
    if (issues && is_last)
      for (size_t i = 0; i < loads_.size(); ++i)
        for (size_t n = 0; loop_.loads[i].through_lds && n < loads_[i].copies.first.size(); ++n)
          memory.emplace_back([this, i, n, copied_stage] {
            copy(i, n, copied_stage % schedule_.buffers, loads_[i].offsets[n],
                 induction_offsets_[loads_[i].moving].current);
          });
    struct Slot {
      bool is_read;
      std::function<void()> emit;
    };
    std::vector<Slot> slots;
    for (size_t i = 0, j = 0; i < memory.size() || j < reads.size();)
      if (j >= reads.size() || (i < memory.size() && i * reads.size() <= j * memory.size()))
        slots.push_back({false, memory[i++]});
      else
        slots.push_back({true, reads[j++]});
    const std::vector<MmaStep> &work = chunks_[chunk];
    size_t covered = std::max<size_t>(1, work.size() * 9 / 10);
    size_t distance = std::max<size_t>(1, covered / std::max<size_t>(1, slots.size()));
    size_t at_once = slots.size() / covered + (slots.size() % covered != 0);
    at_once = std::max<size_t>(1, at_once);
    constexpr size_t pinned = 2;
    size_t next = 0;
    for (size_t i = 0; i < work.size(); ++i) {
      multiply(template_, work[i], stages_.at(number));
      if (i % distance == 0)
        for (size_t n = 0; n < at_once && next < slots.size(); ++n)
          slots[next++].emit();
      if (!schedule_.group_barriers && (i + 1) % pinned == 0)
        order_barrier(arithmetic_crosses);
    }
    while (next < slots.size())
      slots[next++].emit();
    if (!schedule_.group_barriers) {
      order_barrier(arithmetic_crosses);
      continue;
    }
    if (is_last)
      order_barrier(only_vector_memory_stays);
    next = 0;
    for (size_t i = 0; i < work.size(); i += distance) {
      group(matrix_group, static_cast<unsigned>(std::min(distance, work.size() - i)));
      for (size_t n = 0; n < at_once && next < slots.size(); ++n)
        group(slots[next++].is_read ? lds_read_group : vector_memory_group, 1);
    }
  }
  if (!schedule_.group_barriers)
    order_barrier(only_vector_memory_stays);
  if (issues)
    advance();
}

void LdsPipelineEmitter::emit_loop_and_tail() {
  llvm::BasicBlock *before = builder_.GetInsertBlock();
  llvm::BasicBlock *start = lowering_.new_block("staged.start"), *loop = lowering_.new_block("staged"),
                   *tail = lowering_.new_block("staged.tail"), *done = lowering_.new_block("staged.done");
  std::vector<std::pair<llvm::BasicBlock *, std::vector<Values>>> exits = {{before, accumulators_}};
  builder_.CreateCondBr(builder_.CreateICmpNE(whole_, builder_.getInt32(0)), start, done);

  builder_.SetInsertPoint(start);
  emit_prologue();
  llvm::Value *unroll = builder_.getInt32(schedule_.buffers);
  llvm::Value *turns = builder_.CreateUDiv(whole_, unroll), *rest = builder_.CreateURem(whole_, unroll);
  builder_.CreateCondBr(builder_.CreateICmpNE(turns, builder_.getInt32(0)), loop, tail);

  builder_.SetInsertPoint(loop);
  std::vector<llvm::PHINode *> phis;
  Values initial;
  auto cross = [&](llvm::Value *&value) {
    llvm::PHINode *phi = builder_.CreatePHI(value->getType(), 2);
    phi->addIncoming(value, start);
    initial.push_back(value);
    phis.push_back(phi);
    value = phi;
  };
  llvm::PHINode *turn = builder_.CreatePHI(i32_, 2);
  turn->addIncoming(builder_.getInt32(0), start);
  for (llvm::Value **value : carried(0))
    cross(*value);
  for (InductionOffset &moving : induction_offsets_)
    if (moving.change != 0)
      cross(moving.current);
  auto index_at = [&](llvm::Value *turn_number, unsigned stage) {
    llvm::Value *round =
        builder_.CreateAdd(builder_.CreateMul(turn_number, unroll), builder_.getInt32(stage));
    return builder_.CreateAdd(
        first_, builder_.CreateMul(round, builder_.getInt32(static_cast<uint32_t>(loop_.step))));
  };
  for (unsigned s = 0; s < schedule_.buffers; ++s) {
    stages_.try_emplace(s, new_stage(template_));
    stages_.at(s).index = index_at(turn, s);
    emit_stage(s, true, true, schedule_.outstanding_at_barrier(demand_));
  }
  lowering_.set_line(*loop_.op);
  llvm::Value *next_turn = builder_.CreateAdd(turn, builder_.getInt32(1));
  builder_.CreateCondBr(builder_.CreateICmpULT(next_turn, turns), loop, tail);
  turn->addIncoming(next_turn, loop);
  Values ends;
  for (llvm::Value **value : carried(schedule_.buffers))
    ends.push_back(*value);
  for (InductionOffset &moving : induction_offsets_)
    if (moving.change != 0)
      ends.push_back(moving.current);
  for (size_t i = 0; i < phis.size(); ++i)
    phis[i]->addIncoming(ends[i], loop);

  // What is left of the rounds has been loaded: no loads any more.
  builder_.SetInsertPoint(tail);
  stages_.clear();
  for (unsigned s = 0; s < schedule_.buffers; ++s)
    stages_[s] = new_stage(template_);
  std::vector<llvm::Value **> kept = carried(0);
  for (size_t i = 0; i < kept.size(); ++i) {
    llvm::PHINode *phi = builder_.CreatePHI(initial[i]->getType(), 2);
    phi->addIncoming(initial[i], start);
    phi->addIncoming(ends[i], loop);
    *kept[i] = phi;
  }
  for (unsigned s = 0; s + 1 < schedule_.buffers; ++s) {
    llvm::BasicBlock *more = lowering_.new_block("staged.tail");
    exits.emplace_back(builder_.GetInsertBlock(), accumulators_);
    builder_.CreateCondBr(builder_.CreateICmpUGT(rest, builder_.getInt32(s)), more, done);
    builder_.SetInsertPoint(more);
    stages_.at(s).index = index_at(turns, s);
    emit_stage(s, false, s + 2 < schedule_.buffers, schedule_.outstanding_at_barrier(demand_, s + 1));
  }
  exits.emplace_back(builder_.GetInsertBlock(), accumulators_);
  builder_.CreateBr(done);

  builder_.SetInsertPoint(done);
  for (size_t i = 0; i < accumulators_.size(); ++i)
    for (size_t tile = 0; tile < accumulators_[i].size(); ++tile) {
      auto count = static_cast<unsigned>(exits.size());
      llvm::PHINode *phi = builder_.CreatePHI(accumulators_[i][tile]->getType(), count);
      for (const auto &[block, values] : exits)
        phi->addIncoming(values[i][tile], block);
      accumulators_[i][tile] = phi;
    }
  for (Values &tiles : accumulators_)
    for (llvm::Value *&tile : tiles)
      tile = in_accumulators(tile);
  // No copy may be in flight when the workgroup ends.
  wait(0, false);
}

/// The rounds in which masks differ between elements, one at a time. Offsets beyond the descriptor make the
/// zeros of what is masked.
void LdsPipelineEmitter::emit_remainder() {
  part_ = remainder_column;
  Template computed;
  bool built = build_template(computed, Masks::Computed);
  llvm::BasicBlock *before = builder_.GetInsertBlock(), *loop = lowering_.new_block("staged.rest"),
                   *done = lowering_.new_block("staged.rest.done");
  llvm::Value *any = builder_.CreateICmpULT(whole_, total_);
  builder_.CreateCondBr(any, loop, done);
  builder_.SetInsertPoint(loop);
  llvm::PHINode *round = builder_.CreatePHI(i32_, 2);
  round->addIncoming(whole_, before);
  std::vector<Values> initial = accumulators_;
  std::vector<std::vector<llvm::PHINode *>> phis(accumulators_.size());
  for (size_t i = 0; i < accumulators_.size(); ++i)
    for (llvm::Value *&tile : accumulators_[i]) {
      phis[i].push_back(builder_.CreatePHI(tile->getType(), 2));
      phis[i].back()->addIncoming(tile, before);
      tile = phis[i].back();
    }
  invariants_.clear();
  make_invariants(computed);
  Stage stage = new_stage(computed);
  stage.index = builder_.CreateAdd(
      first_, builder_.CreateMul(round, builder_.getInt32(static_cast<uint32_t>(loop_.step))));
  lowering_.open_scope();
  lower_scalars(stage.index);
  wait(0, true);
  builder_.CreateIntrinsic(llvm::Intrinsic::amdgcn_s_barrier, {});
  order_barrier(nothing_crosses);
  for (size_t i = 0; i < loads_.size(); ++i) {
    const PipelinedLoad &load = loop_.loads[i];
    LoadState &state = loads_[i];
    const LinearLayout &leaders = load.through_lds ? state.copies.leaders : state.groups.leaders;
    Values offsets = state.offsets;
    if (load.has_iteration_mask)
      offsets = masked(state.open_offsets, {load.op->operands[1]}, leaders);
    llvm::Value *moved = builder_.CreateMul(round, builder_.getInt32(static_cast<uint32_t>(load.change)));
    for (size_t n = 0; n < offsets.size(); ++n)
      if (load.through_lds)
        copy(i, n, 0, offsets[n], moved);
      else
        stage.loaded[i][n] = load_unit({i, n}, offsets[n], moved);
  }
  lowering_.close_scope();
  order_barrier(nothing_crosses);
  wait(0, true);
  builder_.CreateIntrinsic(llvm::Intrinsic::amdgcn_s_barrier, {});
  order_barrier(nothing_crosses);
  for (size_t chunk = 0; chunk < chunks_.size(); ++chunk) {
    for (LoadGroup unit : chunk_reads_[chunk])
      stage.loaded[unit.load][unit.group] = read_unit(unit, 0);
    for (const MmaStep &work : chunks_[chunk])
      multiply(computed, work, stage);
  }
  lowering_.set_line(*loop_.op);
  llvm::Value *next = builder_.CreateAdd(round, builder_.getInt32(1));
  round->addIncoming(next, loop);
  builder_.CreateCondBr(builder_.CreateICmpULT(next, total_), loop, done);
  for (size_t i = 0; i < accumulators_.size(); ++i)
    for (size_t tile = 0; tile < accumulators_[i].size(); ++tile)
      phis[i][tile]->addIncoming(accumulators_[i][tile], loop);
  builder_.SetInsertPoint(done);
  for (size_t i = 0; i < accumulators_.size(); ++i)
    for (size_t tile = 0; tile < accumulators_[i].size(); ++tile) {
      llvm::PHINode *phi = builder_.CreatePHI(accumulators_[i][tile]->getType(), 2);
      phi->addIncoming(initial[i][tile], before);
      phi->addIncoming(accumulators_[i][tile], loop);
      accumulators_[i][tile] = phi;
    }
  for (Values &tiles : accumulators_)
    for (llvm::Value *&tile : tiles)
      tile = in_accumulators(tile);
  erase(computed);
  if (!built)
    lowering_.fail(*loop_.op, "a masked round of this loop needs other waves", "use stages = 1");
}

/// For whoever checks the machine code.
void LdsPipelineEmitter::contract() {
  std::vector<PipelineContract> contracts;
  for (size_t i = 0; i < loads_.size(); ++i) {
    if (!loop_.loads[i].through_lds)
      continue;
    unsigned reads = 0;
    for (const std::vector<LoadGroup> &units : chunk_reads_)
      reads += static_cast<unsigned>(
          std::count_if(units.begin(), units.end(), [&](LoadGroup unit) { return unit.load == i; }));
    PipelineContract made{lowering_.index_.line(*loop_.loads[i].op), pipeline_column,
                          static_cast<unsigned>(loads_[i].copies.first.size()), reads, schedule_.buffers};
    contracts.push_back(made);
    if (!loop_.conditions.empty()) {
      made.column = remainder_column;
      made.buffers = 1;
      contracts.push_back(made);
    }
  }
  std::string before;
  if (lowering_.kernel_->hasFnAttribute(pipeline_contract_attribute))
    before = lowering_.kernel_->getFnAttribute(pipeline_contract_attribute).getValueAsString().str();
  lowering_.kernel_->addFnAttr(pipeline_contract_attribute, before + text_of(contracts));
}

bool LdsPipelineEmitter::emit() {
  Lowering &l = lowering_;
  if (!build_template(template_, Masks::KnownTrue)) {
    erase(template_);
    return false;
  }
  demand_ = demand();
  auto waves = static_cast<unsigned>(l.function_.options.waves);
  unsigned per_simd = std::max((waves + 3) / 4, static_cast<unsigned>(l.function_.options.waves_per_eu));
  std::optional<LdsPipelineSchedule> schedule =
      choose_schedule(demand_, static_cast<unsigned>(loop_.stages), per_simd, lds_limit);
  if (!schedule) {
    erase(template_);
    return false;
  }
  schedule_ = *schedule;
  if (schedule_.accumulators_in_agprs)
    l.kernel_->removeFnAttr("amdgpu-agpr-alloc");
  else
    l.kernel_->addFnAttr("amdgpu-agpr-alloc", "0");
  list_work();
  contract();
  for (const PipelinedLoad &load : loop_.loads)
    l.order_accesses(*load.op);
  if (l.index_.block(*loop_.op) != &l.function_.body)
    l.barrier(); // the rounds before may still read what is copied now
  l.set_line(*loop_.op);
  count_iterations();
  l.open_scope();
  lower_scalars(first_);
  make_addresses();
  make_invariants(template_);
  for (size_t i = 0; i < loop_.accumulators.size(); ++i) {
    const DotPlan &plan = l.layouts_.dots.at(loop_.accumulators[i].dots.front());
    Registers start = l.get(loop_.op->operands[i + 3], plan.result);
    unsigned used = plan.mfma->result_registers();
    Values &tiles = accumulators_.emplace_back();
    auto *type = llvm::FixedVectorType::get(start[0]->getType(), used);
    for (size_t first = 0; first < start.size(); first += used) {
      llvm::Value *tile = llvm::Constant::getNullValue(type);
      for (unsigned r = 0; r < used; ++r)
        tile = builder_.CreateInsertElement(tile, start[first + r], r);
      tiles.push_back(in_accumulators(tile));
    }
  }
  emit_loop_and_tail();
  if (!loop_.conditions.empty())
    emit_remainder();
  l.close_scope();
  erase(template_);
  for (size_t i = 0; i < loop_.accumulators.size(); ++i) {
    Registers registers;
    for (llvm::Value *tile : accumulators_[i])
      for (unsigned r = 0; r < llvm::cast<llvm::FixedVectorType>(tile->getType())->getNumElements(); ++r)
        registers.push_back(builder_.CreateExtractElement(tile, r));
    l.define(loop_.op->results[i], l.natural_layout(loop_.op->results[i]), registers);
  }
  return true;
}

} // namespace nereid::codegen
