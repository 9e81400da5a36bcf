// The iterations of an LDS pipeline in which masks differ between elements, one at a time.
#include "codegen/lds_pipeline/emitter.h"

#include <llvm/IR/IntrinsicsAMDGPU.h>

namespace nereid::codegen {

void LdsPipelineEmitter::emit_remainder() {
  memory_.set_tag(CodeTag::Remainder);
  IterationTemplate computed(lowering_, pipeline_, IterationTemplate::Masks::Computed);
  if (!computed.is_clonable())
    lowering_.context.fail(loop_, "a masked iteration of an LDS pipeline has effects",
                           "this is a defect of Nereid; please report it with the kernel");
  llvm::BasicBlock *before = builder_.GetInsertBlock(),
                   *loop = lowering_.context.new_block("pipeline.remainder"),
                   *done = lowering_.context.new_block("pipeline.remainder.done");
  builder_.CreateCondBr(builder_.CreateICmpULT(full_, total_), loop, done);
  builder_.SetInsertPoint(loop);
  llvm::PHINode *iteration = builder_.CreatePHI(builder_.getInt32Ty(), 2);
  iteration->addIncoming(full_, before);
  exits_ = {{before, accumulators_}};
  std::vector<llvm::PHINode *> phis;
  for (LlvmValues &tiles : accumulators_)
    for (llvm::Value *&tile : tiles) {
      phis.push_back(builder_.CreatePHI(tile->getType(), 2));
      phis.back()->addIncoming(tile, before);
      tile = phis.back();
    }
  computed.clone_invariants();
  Stage stage = computed.new_stage();
  stage.index = index_at(iteration);
  load_iteration(stage, iteration);
  compute_iteration(computed, stage);

  lowering_.context.set_line(loop_);
  llvm::Value *next = builder_.CreateAdd(iteration, builder_.getInt32(1));
  iteration->addIncoming(next, loop);
  builder_.CreateCondBr(builder_.CreateICmpULT(next, total_), loop, done);
  auto phi = phis.begin();
  for (const LlvmValues &tiles : accumulators_)
    for (llvm::Value *tile : tiles)
      (*phi++)->addIncoming(tile, loop);
  exits_.emplace_back(loop, accumulators_);
  builder_.SetInsertPoint(done);
  merge_accumulators();
  keep_in_accumulators();
}

/// All waves are done with LDS before, and all copies have arrived after. Offsets beyond the descriptor make
/// the zeros of what is masked.
void LdsPipelineEmitter::load_iteration(Stage &stage, llvm::Value *iteration) {
  RegionCache::Scope region(lowering_.cache);
  lower_scalars(stage.index);
  meet_all_waves(builder_);
  for (size_t load = 0; load < pipeline_.loads.size(); ++load) {
    const PipelinedLoad &of = pipeline_.loads[load];
    memory_.apply_iteration_masks(load);
    llvm::Value *step = builder_.getInt32(static_cast<uint32_t>(of.offset_step()));
    llvm::Value *moved = builder_.CreateMul(iteration, step);
    for (size_t n = 0; n < of.copies.first.size(); ++n)
      memory_.copy(load, n, 0, moved);
    for (size_t group = 0; !of.through_lds() && group < of.groups.first.size(); ++group)
      stage.loaded[load][group] = memory_.load({load, group}, moved);
  }
  order_barrier(builder_, nothing_crosses);
  meet_all_waves(builder_);
}

void LdsPipelineEmitter::compute_iteration(IterationTemplate &computed, Stage &stage) {
  for (size_t chunk = 0; chunk < chunks_.size(); ++chunk) {
    for (LoadGroup group : chunk_reads_[chunk])
      stage.loaded[group.load][group.group] = memory_.read(group, 0);
    for (const MmaStep &step : chunks_[chunk]) {
      llvm::Value *&accumulator = accumulators_[step.accumulator][computed.tile(step)];
      accumulator = computed.multiply(step, stage, accumulator);
    }
  }
}

} // namespace nereid::codegen
