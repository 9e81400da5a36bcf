// The iterations of an LDS pipeline in which masks differ between elements, one at a time.
#include "codegen/lds_pipeline/remainder.h"

#include "codegen/lds_pipeline/waits.h"

namespace nereid::codegen {

namespace {

/// All waves are done with LDS before, and all copies have arrived after. Offsets beyond the descriptor make
/// the zeros of what is masked.
void load_iteration(PipelineState &state, IterationTemplate::Stage &stage, llvm::Value *iteration) {
  RegionCache::Scope region(state.lowering.cache);
  state.lower_scalars(stage.index);
  meet_all_waves(state.builder);
  for (size_t load = 0; load < state.pipeline.loads.size(); ++load) {
    const PipelinedLoad &of = state.pipeline.loads[load];
    state.memory.apply_iteration_masks(load);
    llvm::Value *step = state.builder.getInt32(static_cast<uint32_t>(of.offset_step()));
    llvm::Value *moved = state.builder.CreateMul(iteration, step);
    for (size_t n = 0; n < of.copies.first.size(); ++n)
      state.memory.copy(load, n, 0, moved);
    for (size_t group = 0; !of.through_lds() && group < of.groups.first.size(); ++group)
      stage.loaded[load][group] = state.memory.load({load, group}, moved);
  }
  order_barrier(state.builder, nothing_crosses);
  meet_all_waves(state.builder);
}

void compute_iteration(PipelineState &state, Accumulators &accumulators, IterationTemplate &computed,
                       IterationTemplate::Stage &stage) {
  for (size_t chunk = 0; chunk < state.chunks.size(); ++chunk) {
    for (LoadGroup group : state.chunk_reads[chunk])
      stage.loaded[group.load][group.group] = state.memory.read(group, 0);
    for (const MmaStep &step : state.chunks[chunk]) {
      llvm::Value *&accumulator = accumulators.tile(step.accumulator, computed.tile(step));
      accumulator = computed.multiply(step, stage, accumulator);
    }
  }
}

} // namespace

void emit_remainder(PipelineState &state, Accumulators &accumulators) {
  state.memory.set_tag(CodeTag::Remainder);
  IterationTemplate computed(state.lowering, state.pipeline, IterationTemplate::Masks::Computed);
  if (!computed.is_clonable())
    state.lowering.context.fail(state.loop, "a masked iteration of an LDS pipeline has effects",
                                "this is a defect of Nereid; please report it with the kernel");
  accumulators.note_exit();
  llvm::BasicBlock *before = state.builder.GetInsertBlock(),
                   *loop = state.lowering.context.new_block("pipeline.remainder"),
                   *done = state.lowering.context.new_block("pipeline.remainder.done");
  state.builder.CreateCondBr(state.builder.CreateICmpULT(state.count.full, state.count.total), loop, done);
  state.builder.SetInsertPoint(loop);
  llvm::PHINode *iteration = state.builder.CreatePHI(state.builder.getInt32Ty(), 2);
  iteration->addIncoming(state.count.full, before);
  std::vector<llvm::PHINode *> phis;
  for (llvm::Value **tile : accumulators.all()) {
    phis.push_back(state.builder.CreatePHI((*tile)->getType(), 2));
    phis.back()->addIncoming(*tile, before);
    *tile = phis.back();
  }
  computed.clone_invariants();
  IterationTemplate::Stage stage = computed.new_stage();
  stage.index = state.index_at(iteration);
  load_iteration(state, stage, iteration);
  compute_iteration(state, accumulators, computed, stage);

  state.lowering.context.set_line(state.loop);
  llvm::Value *next = state.builder.CreateAdd(iteration, state.builder.getInt32(1));
  iteration->addIncoming(next, loop);
  state.builder.CreateCondBr(state.builder.CreateICmpULT(next, state.count.total), loop, done);
  auto phi = phis.begin();
  for (llvm::Value **tile : accumulators.all())
    (*phi++)->addIncoming(*tile, loop);
  accumulators.note_exit();
  state.builder.SetInsertPoint(done);
  accumulators.merge();
}

} // namespace nereid::codegen
