// The main loop of an LDS pipeline: its prologue, the unrolled loop, and the iterations left over after it.
#include "codegen/lds_pipeline/main_loop.h"

#include "codegen/lds_pipeline/waits.h"

namespace nereid::codegen {

struct MainLoopEmitter::Edges {
  llvm::BasicBlock *start, *loop;
  LlvmValues initial, ends; ///< of all that is carried, by `carried` and then the scalar offsets
};

MainLoopEmitter::MainLoopEmitter(PipelineState &state, Accumulators &accumulators)
    : state_(state), builder_(state.builder), accumulators_(accumulators), offsets_(state.builder),
      stages_(state, accumulators, offsets_) {
  for (const PipelinedLoad &load : state.pipeline.loads)
    offsets_.add_load(load.offset_step(),
                      load.through_lds() ? state.schedule.buffers : state.schedule.load_distance());
}

void MainLoopEmitter::emit() {
  EmitContext &context = state_.lowering.context;
  Edges edges{context.new_block("pipeline.start"), context.new_block("pipeline"), {}, {}};
  llvm::BasicBlock *tail = context.new_block("pipeline.tail"), *done = context.new_block("pipeline.done");
  llvm::Value *full = state_.count.full;
  accumulators_.note_exit();
  builder_.CreateCondBr(builder_.CreateICmpNE(full, builder_.getInt32(0)), edges.start, done);

  builder_.SetInsertPoint(edges.start);
  emit_prologue();
  llvm::Value *unroll = builder_.getInt32(state_.schedule.buffers);
  llvm::Value *turns = builder_.CreateUDiv(full, unroll), *rest = builder_.CreateURem(full, unroll);
  builder_.CreateCondBr(builder_.CreateICmpNE(turns, builder_.getInt32(0)), edges.loop, tail);
  emit_unrolled(edges, turns, tail);
  builder_.SetInsertPoint(tail);
  emit_tail(edges, turns, rest, done);

  builder_.SetInsertPoint(done);
  accumulators_.merge();
  // No copy may be in flight when the workgroup ends. Where the pipeline may start again, neither may be the
  // reads of the stage that does not come, which nothing waits for.
  wait(builder_, 0, state_.is_nested());
}

/// In the order of the loop, so that what is in flight is the same at its top.
void MainLoopEmitter::emit_prologue() {
  offsets_.begin(builder_.CreateSub(state_.count.full, builder_.getInt32(1)));
  for (unsigned s = 0; s < state_.schedule.buffers; ++s) {
    if (s > 0)
      for (LoadGroup group : direct_groups(state_.pipeline)) {
        stages_.stage(s - 1).loaded[group.load][group.group] =
            state_.memory.load(group, offsets_.at_stage(group.load, s - 1));
        order_barrier(builder_, nothing_crosses);
      }
    copy_first_stage(s);
  }
  offsets_.start_loop();
  stages_.wait_for_copies((state_.schedule.buffers - 1) *
                          (state_.pipeline.demand.copies + state_.pipeline.demand.loads));
  for (LoadGroup group : state_.chunk_reads[0])
    stages_.stage(0).loaded[group.load][group.group] = state_.memory.read(group, 0);
}

void MainLoopEmitter::copy_first_stage(unsigned number) {
  for (size_t load = 0; load < state_.pipeline.loads.size(); ++load)
    for (size_t n = 0; n < state_.pipeline.loads[load].copies.first.size(); ++n) {
      state_.memory.set_tag(number == 0 && n == 0 ? CodeTag::FirstCopy : CodeTag::Pipeline);
      state_.memory.copy(load, n, number, offsets_.at_stage(load, number));
      order_barrier(builder_, nothing_crosses);
    }
  state_.memory.set_tag(CodeTag::Pipeline);
}

std::vector<llvm::Value **> MainLoopEmitter::carried(unsigned first_stage) {
  std::vector<llvm::Value **> result = accumulators_.all();
  for (unsigned s = 0; s < state_.schedule.load_distance(); ++s)
    for (LoadGroup group : direct_groups(state_.pipeline))
      result.push_back(&stages_.stage(first_stage + s).loaded[group.load][group.group]);
  for (LoadGroup group : state_.chunk_reads[0])
    result.push_back(&stages_.stage(first_stage).loaded[group.load][group.group]);
  return result;
}

llvm::Value *MainLoopEmitter::index_of_stage(llvm::Value *turn, unsigned number) {
  llvm::Value *unroll = builder_.getInt32(state_.schedule.buffers);
  return state_.index_at(builder_.CreateAdd(builder_.CreateMul(turn, unroll), builder_.getInt32(number)));
}

void MainLoopEmitter::emit_unrolled(Edges &edges, llvm::Value *turns, llvm::BasicBlock *after) {
  builder_.SetInsertPoint(edges.loop);
  llvm::PHINode *turn = builder_.CreatePHI(builder_.getInt32Ty(), 2);
  turn->addIncoming(builder_.getInt32(0), edges.start);
  std::vector<llvm::PHINode *> phis;
  for (const auto &crossing : {carried(0), offsets_.changing()})
    for (llvm::Value **value : crossing) {
      phis.push_back(builder_.CreatePHI((*value)->getType(), 2));
      phis.back()->addIncoming(*value, edges.start);
      edges.initial.push_back(*value);
      *value = phis.back();
    }
  for (unsigned s = 0; s < state_.schedule.buffers; ++s) {
    stages_.stage(s).index = index_of_stage(turn, s);
    stages_.emit(s, {true, true, state_.schedule.outstanding_at_barrier(state_.pipeline.demand)});
  }
  state_.lowering.context.set_line(state_.loop);
  llvm::Value *next_turn = builder_.CreateAdd(turn, builder_.getInt32(1));
  builder_.CreateCondBr(builder_.CreateICmpULT(next_turn, turns), edges.loop, after);
  turn->addIncoming(next_turn, edges.loop);
  for (const auto &crossing : {carried(state_.schedule.buffers), offsets_.changing()})
    for (llvm::Value **value : crossing)
      edges.ends.push_back(*value);
  for (size_t i = 0; i < phis.size(); ++i)
    phis[i]->addIncoming(edges.ends[i], edges.loop);
}

/// What is left of the iterations has been loaded: no loads any more.
void MainLoopEmitter::emit_tail(const Edges &edges, llvm::Value *turns, llvm::Value *rest,
                                llvm::BasicBlock *done) {
  stages_.forget();
  const std::vector<llvm::Value **> kept = carried(0);
  for (size_t i = 0; i < kept.size(); ++i) {
    llvm::PHINode *phi = builder_.CreatePHI(edges.initial[i]->getType(), 2);
    phi->addIncoming(edges.initial[i], edges.start);
    phi->addIncoming(edges.ends[i], edges.loop);
    *kept[i] = phi;
  }
  for (unsigned s = 0; s + 1 < state_.schedule.buffers; ++s) {
    llvm::BasicBlock *more = state_.lowering.context.new_block("pipeline.tail");
    accumulators_.note_exit();
    builder_.CreateCondBr(builder_.CreateICmpUGT(rest, builder_.getInt32(s)), more, done);
    builder_.SetInsertPoint(more);
    stages_.stage(s).index = index_of_stage(turns, s);
    stages_.emit(s, {false, s + 2 < state_.schedule.buffers,
                     state_.schedule.outstanding_at_barrier(state_.pipeline.demand, s + 1)});
  }
  accumulators_.note_exit();
  builder_.CreateBr(done);
}

} // namespace nereid::codegen
