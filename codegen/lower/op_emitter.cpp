// The walk over operations.
#include "codegen/lower/op_emitter.h"

#include "codegen/lower/branches.h"
#include "codegen/lower/lowering.h"
#include "codegen/lower/row_scaling.h"
#include "codegen/lower/value_layout.h"

namespace nereid::codegen {

void OpEmitter::emit_block(const ir::Block &block, const BodyCopy &copy) {
  for (const ir::Op &op : block.ops)
    if (op.opcode != ir::Opcode::Yield)
      emit(op, copy);
}

void OpEmitter::emit(const ir::Op &op, const BodyCopy &copy) {
  if (const auto own = copy.loads.find(&op); own != copy.loads.end()) {
    own->second();
    if (op.opcode == ir::Opcode::Load)
      return;
  }
  parts_.context.set_line(op);
  switch (op.opcode) {
  case ir::Opcode::Load:
    return emit_load(op, copy);
  case ir::Opcode::Store:
    return parts_.memory.store(op);
  case ir::Opcode::AtomicAdd:
  case ir::Opcode::AtomicMax:
  case ir::Opcode::AtomicMin:
  case ir::Opcode::AtomicAnd:
  case ir::Opcode::AtomicOr:
  case ir::Opcode::AtomicXor:
  case ir::Opcode::AtomicExchange:
  case ir::Opcode::AtomicCompareExchange:
    return parts_.atomics.emit(op);
  case ir::Opcode::Dot:
  case ir::Opcode::DotScaled:
    if (!is_folded_dot(parts_.context.plan, op))
      parts_.dots.emit(op, op.result(), std::nullopt);
    return;
  case ir::Opcode::Quantize:
    return parts_.quantize.emit(op, copy);
  case ir::Opcode::CumSum:
    return parts_.folds.emit_cumsum(op);
  case ir::Opcode::Gather:
    return parts_.gather.emit(op);
  case ir::Opcode::Reduce:
  case ir::Opcode::Scan:
    return parts_.folds.emit(op);
  case ir::Opcode::Butterfly:
    return parts_.folds.emit_butterfly(op);
  case ir::Opcode::For:
    return parts_.loops.emit(op);
  case ir::Opcode::While:
    return parts_.loops.emit_while(op);
  case ir::Opcode::If:
    return emit_if(op);
  case ir::Opcode::Assume:
    parts_.context.builder.CreateAssumption(parts_.values.scalar(op.operands[0]));
    return;
  case ir::Opcode::DeviceAssert:
    return emit_assert(op);
  case ir::Opcode::DevicePrint:
    parts_.context.fail(op, "device_print has not been lowered", "call jit::lower_prints first");
  default:
    break;
  }
  if (ir::facts(op.opcode).op_class == ir::OpClass::Reduce)
    return parts_.reduce.emit(op);
  if (!emit_folded_dot(op))
    emit_pure_op(op);
}

void OpEmitter::emit_load(const ir::Op &op, const BodyCopy &copy) {
  if (auto issued = copy.issued.find(&op); issued != copy.issued.end())
    parts_.memory.finish_load(op, issued->second);
  else
    parts_.memory.load(op);
}

bool OpEmitter::emit_folded_dot(const ir::Op &op) {
  if (op.opcode != ir::Opcode::Add)
    return false;
  for (unsigned side : {0u, 1u}) {
    const ir::Op *dot = parts_.context.plan.index.definition(op.operands[side]);
    if (!dot || !is_folded_dot(parts_.context.plan, *dot))
      continue;
    parts_.dots.emit(*dot, op.result(), op.operands[1 - side]);
    return true;
  }
  return false;
}

void OpEmitter::emit_pure_op(const ir::Op &op) {
  const KernelPlan &plan = parts_.context.plan;
  if (const std::optional<Registers> scaled = scale_rows(parts_.context, parts_.values, op))
    return parts_.values.define(op.result(), assigned_layout(plan, op.result()), *scaled);
  for (unsigned i = 0; i < op.results.size(); ++i) {
    const ir::ValueId result = op.results[i];
    if (parts_.context.type(result).rank() != 0 && !plan.layouts.assigned[result])
      continue;
    const LinearLayout layout = assigned_layout(plan, result);
    parts_.values.define(result, layout, parts_.values.compute(op, i, layout));
  }
}

void OpEmitter::emit_if(const ir::Op &op) {
  EmitContext &context = parts_.context;
  llvm::Value *condition = parts_.values.scalar(op.operands[0]);
  llvm::BasicBlock *done = context.new_block("merged");
  llvm::BasicBlock *starts[2] = {context.new_block("then"), context.new_block("otherwise")};
  std::array<llvm::BasicBlock *, 2> ends{};
  std::array<std::vector<Registers>, 2> values;
  context.builder.CreateCondBr(condition, starts[0], starts[1]);
  const MemoryOrder::Accesses before = parts_.order.accesses();
  MemoryOrder::Accesses after_then;
  for (size_t side = 0; side < 2; ++side) {
    context.builder.SetInsertPoint(starts[side]);
    parts_.order.restart(before);
    RegionCache::Scope region(parts_.cache);
    emit_block(op.blocks[side]);
    context.set_line(op);
    for (size_t i = 0; i < op.results.size(); ++i)
      values[side].push_back(parts_.edges.leave(op.blocks[side].ops.back().operands[i],
                                                assigned_layout(context.plan, op.results[i])));
    if (side == 0)
      after_then = parts_.order.accesses();
    ends[side] = context.builder.GetInsertBlock();
    context.builder.CreateBr(done);
  }
  parts_.order.add(after_then);
  context.builder.SetInsertPoint(done);
  define_merged(op, values, ends);
}

/// The results of `op` at a join of two edges. All phis stand before what unpacks them.
void OpEmitter::define_merged(const ir::Op &op, const std::array<std::vector<Registers>, 2> &values,
                              const std::array<llvm::BasicBlock *, 2> &edges) {
  const CarriedValues merged = phis_of(parts_.context.builder, values[0]);
  for (size_t edge = 0; edge < edges.size(); ++edge)
    add_incoming(merged, values[edge], edges[edge]);
  for (size_t i = 0; i < op.results.size(); ++i)
    parts_.edges.arrive(op.results[i], assigned_layout(parts_.context.plan, op.results[i]), merged[i]);
}

void OpEmitter::emit_assert(const ir::Op &op) {
  llvm::IRBuilder<> &builder = parts_.context.builder;
  const ir::ValueId value = op.operands[0];
  llvm::Value *good = builder.getTrue();
  for (llvm::Value *element : parts_.values.get(value, assigned_layout(parts_.context.plan, value)))
    good = builder.CreateAnd(good, element);
  guarded(parts_.context, builder.CreateNot(good), {}, [&] {
    builder.CreateIntrinsic(llvm::Intrinsic::trap, {});
    return Registers();
  });
}

} // namespace nereid::codegen
