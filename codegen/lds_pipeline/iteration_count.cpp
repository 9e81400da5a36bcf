// How often the loop of an LDS pipeline runs, and how often all conditions of its masks hold.
#include <unordered_map>

#include "codegen/assign/memory_layout.h"
#include "codegen/lds_pipeline/pipeline_state.h"

namespace nereid::codegen {
namespace {

llvm::Value *max_of_source(PipelineState &state, ir::ValueId value) {
  Lowering &lowering = state.lowering;
  const ir::Type &type = lowering.context.type(value);
  llvm::Type *i64 = state.builder.getInt64Ty();
  if (type.rank() == 0)
    return state.builder.CreateSExt(lowering.values.scalar(value), i64);
  const ir::Op &op = *lowering.context.plan.index.definition(value);
  if (op.opcode == ir::Opcode::Arange)
    return state.builder.getInt64(op.integer("start") + type.shape[0] - 1);
  const LinearLayout layout = default_layout(type.shape, lowering.context.function().options.waves);
  return state.builder.CreateSExt(lowering.values.compute(op, 0, layout)[0], i64);
}

/// The largest element of a tile that LoopInduction::has_max_element says has one, as i64. Operands first.
llvm::Value *max_element(PipelineState &state, ir::ValueId root) {
  const EmitContext &context = state.lowering.context;
  std::unordered_map<ir::ValueId, llvm::Value *> known;
  std::vector<ir::ValueId> open = {root};
  while (!open.empty()) {
    const ir::ValueId value = open.back();
    const size_t before = open.size();
    const ir::Op *op = context.type(value).rank() == 0 ? nullptr : context.plan.index.definition(value);
    for (size_t i = 0; op && i < op->operands.size(); ++i)
      if (known.count(op->operands[i]) == 0)
        open.push_back(op->operands[i]);
    if (open.size() != before)
      continue;
    open.pop_back();
    if (op && op->opcode == ir::Opcode::Add)
      known[value] = state.builder.CreateAdd(known.at(op->operands[0]), known.at(op->operands[1]));
    else if (op && !op->operands.empty())
      known[value] = known.at(op->operands[0]);
    else
      known[value] = max_of_source(state, value);
  }
  return known.at(root);
}

} // namespace

void count_iterations(PipelineState &state) {
  llvm::IRBuilder<> &builder = state.builder;
  ValueMap &values = state.lowering.values;
  IterationCount &count = state.count;
  count.first = values.scalar(state.loop.operands[0]);
  count.last = values.scalar(state.loop.operands[1]);
  llvm::Value *any = builder.CreateICmpSLT(count.first, count.last);
  llvm::Value *zero = builder.getInt32(0);
  llvm::Value *step = builder.getInt32(static_cast<uint32_t>(state.pipeline.loop.step));
  llvm::Value *distance = builder.CreateSub(count.last, count.first);
  llvm::Value *iterations = builder.CreateAdd(
      builder.CreateUDiv(builder.CreateSub(distance, builder.getInt32(1)), step), builder.getInt32(1));
  count.total = builder.CreateSelect(any, iterations, zero);
  count.full = count.total;
  if (state.pipeline.loop.conditions.empty())
    return;
  llvm::Value *complete = builder.CreateUDiv(distance, step);
  llvm::Value *holds = builder.CreateAnd(any, builder.CreateICmpNE(complete, zero));
  llvm::Value *before_last = builder.CreateSub(complete, builder.getInt32(1));
  RegionCache::Scope region(state.lowering.cache);
  state.lower_scalars(state.index_at(before_last));
  for (const auto &[value, condition] : state.pipeline.loop.conditions) {
    llvm::Value *bound = builder.CreateSExt(values.scalar(condition.bound), builder.getInt64Ty());
    llvm::Value *rising = max_element(state, condition.rising);
    holds = builder.CreateAnd(holds, condition.inclusive ? builder.CreateICmpSLE(rising, bound)
                                                         : builder.CreateICmpSLT(rising, bound));
  }
  count.full = builder.CreateSelect(holds, complete, zero);
}

} // namespace nereid::codegen
