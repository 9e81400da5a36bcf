// The main loop of an LDS pipeline: its prologue, the unrolled loop, and the iterations left over after it.
#include "codegen/lds_pipeline/emitter.h"

namespace nereid::codegen {

struct LdsPipelineEmitter::LoopEdges {
  llvm::BasicBlock *start, *loop;
  LlvmValues initial, ends; ///< of all that is carried, by `carried` and then the scalar offsets
};

void LdsPipelineEmitter::emit_main_loop() {
  LoopEdges edges{
      lowering_.context.new_block("pipeline.start"), lowering_.context.new_block("pipeline"), {}, {}};
  llvm::BasicBlock *tail = lowering_.context.new_block("pipeline.tail"),
                   *done = lowering_.context.new_block("pipeline.done");
  exits_ = {{builder_.GetInsertBlock(), accumulators_}};
  builder_.CreateCondBr(builder_.CreateICmpNE(full_, builder_.getInt32(0)), edges.start, done);

  builder_.SetInsertPoint(edges.start);
  emit_prologue();
  llvm::Value *unroll = builder_.getInt32(schedule_.buffers);
  llvm::Value *turns = builder_.CreateUDiv(full_, unroll), *rest = builder_.CreateURem(full_, unroll);
  builder_.CreateCondBr(builder_.CreateICmpNE(turns, builder_.getInt32(0)), edges.loop, tail);
  emit_unrolled(edges, turns, tail);
  builder_.SetInsertPoint(tail);
  emit_tail(edges, turns, rest, done);

  builder_.SetInsertPoint(done);
  merge_accumulators();
  keep_in_accumulators();
  // No copy may be in flight when the workgroup ends. Where the pipeline may start again, neither may be the
  // reads of the stage that does not come, which nothing waits for.
  wait(builder_, 0, is_nested());
}

/// In the order of the loop, so that what is in flight is the same at its top.
void LdsPipelineEmitter::emit_prologue() {
  offsets_.begin(builder_.CreateSub(full_, builder_.getInt32(1)));
  for (unsigned s = 0; s < schedule_.buffers; ++s) {
    if (s > 0)
      for (LoadGroup group : direct_groups(pipeline_)) {
        stage(s - 1).loaded[group.load][group.group] =
            memory_.load(group, offsets_.at_stage(group.load, s - 1));
        order_barrier(builder_, nothing_crosses);
      }
    copy_first_stage(s);
  }
  offsets_.start_loop();
  wait_and_barrier((schedule_.buffers - 1) * (pipeline_.demand.copies + pipeline_.demand.loads));
  for (LoadGroup group : chunk_reads_[0])
    stage(0).loaded[group.load][group.group] = memory_.read(group, 0);
}

void LdsPipelineEmitter::copy_first_stage(unsigned stage) {
  for (size_t load = 0; load < pipeline_.loads.size(); ++load)
    for (size_t n = 0; n < pipeline_.loads[load].copies.first.size(); ++n) {
      memory_.set_tag(stage == 0 && n == 0 ? CodeTag::FirstCopy : CodeTag::Pipeline);
      memory_.copy(load, n, stage, offsets_.at_stage(load, stage));
      order_barrier(builder_, nothing_crosses);
    }
  memory_.set_tag(CodeTag::Pipeline);
}

std::vector<llvm::Value **> LdsPipelineEmitter::carried(unsigned first_stage) {
  std::vector<llvm::Value **> result;
  for (LlvmValues &tiles : accumulators_)
    for (llvm::Value *&tile : tiles)
      result.push_back(&tile);
  for (unsigned s = 0; s < schedule_.load_distance(); ++s)
    for (LoadGroup group : direct_groups(pipeline_))
      result.push_back(&stage(first_stage + s).loaded[group.load][group.group]);
  for (LoadGroup group : chunk_reads_[0])
    result.push_back(&stage(first_stage).loaded[group.load][group.group]);
  return result;
}

llvm::Value *LdsPipelineEmitter::index_of_stage(llvm::Value *turn, unsigned stage) {
  llvm::Value *unroll = builder_.getInt32(schedule_.buffers);
  return index_at(builder_.CreateAdd(builder_.CreateMul(turn, unroll), builder_.getInt32(stage)));
}

void LdsPipelineEmitter::emit_unrolled(LoopEdges &edges, llvm::Value *turns, llvm::BasicBlock *after) {
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
  for (unsigned s = 0; s < schedule_.buffers; ++s) {
    stage(s).index = index_of_stage(turn, s);
    emit_stage(s, {true, true, schedule_.outstanding_at_barrier(pipeline_.demand)});
  }
  lowering_.context.set_line(loop_);
  llvm::Value *next_turn = builder_.CreateAdd(turn, builder_.getInt32(1));
  builder_.CreateCondBr(builder_.CreateICmpULT(next_turn, turns), edges.loop, after);
  turn->addIncoming(next_turn, edges.loop);
  for (const auto &crossing : {carried(schedule_.buffers), offsets_.changing()})
    for (llvm::Value **value : crossing)
      edges.ends.push_back(*value);
  for (size_t i = 0; i < phis.size(); ++i)
    phis[i]->addIncoming(edges.ends[i], edges.loop);
}

/// What is left of the iterations has been loaded: no loads any more.
void LdsPipelineEmitter::emit_tail(const LoopEdges &edges, llvm::Value *turns, llvm::Value *rest,
                                   llvm::BasicBlock *done) {
  stages_.clear();
  const std::vector<llvm::Value **> kept = carried(0);
  for (size_t i = 0; i < kept.size(); ++i) {
    llvm::PHINode *phi = builder_.CreatePHI(edges.initial[i]->getType(), 2);
    phi->addIncoming(edges.initial[i], edges.start);
    phi->addIncoming(edges.ends[i], edges.loop);
    *kept[i] = phi;
  }
  for (unsigned s = 0; s + 1 < schedule_.buffers; ++s) {
    llvm::BasicBlock *more = lowering_.context.new_block("pipeline.tail");
    exits_.emplace_back(builder_.GetInsertBlock(), accumulators_);
    builder_.CreateCondBr(builder_.CreateICmpUGT(rest, builder_.getInt32(s)), more, done);
    builder_.SetInsertPoint(more);
    stage(s).index = index_of_stage(turns, s);
    emit_stage(s,
               {false, s + 2 < schedule_.buffers, schedule_.outstanding_at_barrier(pipeline_.demand, s + 1)});
  }
  exits_.emplace_back(builder_.GetInsertBlock(), accumulators_);
  builder_.CreateBr(done);
}

void LdsPipelineEmitter::merge_accumulators() {
  const auto count = static_cast<unsigned>(exits_.size());
  for (size_t i = 0; i < accumulators_.size(); ++i)
    for (size_t tile = 0; tile < accumulators_[i].size(); ++tile) {
      llvm::PHINode *phi = builder_.CreatePHI(accumulators_[i][tile]->getType(), count);
      for (const auto &[block, accumulators] : exits_)
        phi->addIncoming(accumulators[i][tile], block);
      accumulators_[i][tile] = phi;
    }
}

} // namespace nereid::codegen
