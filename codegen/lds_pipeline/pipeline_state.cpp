// What the loops of one LDS pipeline have in common.
#include "codegen/lds_pipeline/pipeline_state.h"

namespace nereid::codegen {

PipelineState::PipelineState(Lowering &lowering, const LdsPipeline &pipeline)
    : lowering(lowering), pipeline(pipeline), schedule(pipeline.schedule), loop(*pipeline.loop.op),
      builder(lowering.context.builder), iteration(lowering, pipeline, IterationTemplate::Masks::KnownTrue),
      memory(lowering, pipeline.loads, pipeline.schedule.buffers, OperandMemory::Kind::Pipeline),
      chunks(mma_chunks(pipeline, lowering.context.plan.layouts)) {}

bool PipelineState::is_nested() const {
  return lowering.context.plan.index.block(loop) != &lowering.context.function().body;
}

void PipelineState::lower_scalars(llvm::Value *index) {
  const ir::Block &body = loop.blocks.front();
  lowering.values.define_scalar(body.arguments[0], index);
  for (const ir::Op &op : body.ops)
    if (op.results.size() == 1 && lowering.context.type(op.result()).rank() == 0 &&
        ir::facts(op.opcode).effect == ir::OpEffect::Pure)
      lowering.ops.emit(op);
}

llvm::Value *PipelineState::index_at(llvm::Value *iteration_number) {
  llvm::Value *step = builder.getInt32(static_cast<uint32_t>(pipeline.loop.step));
  return builder.CreateAdd(count.first, builder.CreateMul(iteration_number, step));
}

} // namespace nereid::codegen
