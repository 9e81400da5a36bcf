// Loops as they stand, and loops whose iterations are split over the waves.
#include "codegen/lower/loop.h"

#include <bit>

#include <llvm/IR/IntrinsicsAMDGPU.h>

#include "codegen/lower/lowering.h"
#include "codegen/lower/value_layout.h"

namespace nereid::codegen {

LoopEmitter::LoopEmitter(Lowering &parts)
    : parts_(parts), context_(parts.context), builder_(parts.context.builder) {}

/// Wave w starts w steps later and goes on by as many steps as there are waves. A distance between first and
/// last is exact as an unsigned number; a step beyond all distances is as good as the largest number.
LoopEmitter::Iterations LoopEmitter::iterations_of_wave(Iterations all) {
  llvm::Type *type = all.first->getType();
  llvm::Value *start = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umul_with_overflow,
                                                      builder_.CreateZExt(context_.wave, type), all.step);
  llvm::Value *later = builder_.CreateExtractValue(start, 0);
  llvm::Value *inside = builder_.CreateICmpULT(later, builder_.CreateSub(all.last, all.first));
  inside = builder_.CreateAnd(inside, builder_.CreateNot(builder_.CreateExtractValue(start, 1)));
  const auto wave_bits = static_cast<unsigned>(std::countr_zero(context_.waves()));
  llvm::Constant *largest = llvm::Constant::getAllOnesValue(type);
  llvm::APInt max_step = llvm::APInt::getMaxValue(type->getIntegerBitWidth()).lshr(wave_bits);
  llvm::Value *fits = builder_.CreateICmpULE(all.step, llvm::ConstantInt::get(type, max_step));
  llvm::Value *step = builder_.CreateSelect(fits, builder_.CreateShl(all.step, wave_bits), largest);
  return {builder_.CreateAdd(all.first, later), all.last, step, builder_.CreateAnd(all.any, inside)};
}

/// Wave 0 starts with the accumulator's initial value, the others with -0 (integers: 0), the neutral element
/// of addition.
Registers LoopEmitter::initial_accumulator_of_wave(const Registers &initial) {
  llvm::Value *first_wave = builder_.CreateICmpEQ(context_.wave, builder_.getInt32(0));
  Registers result;
  for (llvm::Value *value : initial) {
    auto *constant = llvm::dyn_cast<llvm::Constant>(value);
    bool zero = constant && constant->isNullValue();
    llvm::Value *nothing = value->getType()->isFloatTy() ? llvm::ConstantFP::getNegativeZero(value->getType())
                                                         : llvm::Constant::getNullValue(value->getType());
    result.push_back(zero ? value : builder_.CreateSelect(first_wave, value, nothing));
  }
  return result;
}

/// Up to the branch that tells whether there is an iteration; `done` is reached from there where there is
/// none.
LoopEmitter::Loop LoopEmitter::open(const ir::Op &op) {
  const ir::Block &body = op.blocks.front();
  const bool is_split = context_.plan.loop(op).is_split_over_waves;
  Loop loop{op, body, is_split, {}, {}, {}, context_.new_block("done")};
  ValueMap &values = parts_.values;
  loop.iterations = {values.scalar(op.operands[0]), values.scalar(op.operands[1]),
                     values.scalar(op.operands[2]), nullptr};
  // A step that is not positive, which only the run can tell, makes no iteration.
  llvm::Value *is_step = builder_.CreateICmpSGT(
      loop.iterations.step, llvm::Constant::getNullValue(loop.iterations.step->getType()));
  loop.iterations.any =
      builder_.CreateAnd(builder_.CreateICmpSLT(loop.iterations.first, loop.iterations.last), is_step);
  CarriedValues initial;
  for (size_t i = 0; i < op.results.size(); ++i) {
    loop.layouts.push_back(assigned_layout(context_.plan, body.arguments[i + 1]));
    initial.push_back(parts_.edges.leave(op.operands[i + 3], loop.layouts[i]));
    if (loop.wave_split)
      initial.back() = initial_accumulator_of_wave(initial.back());
  }
  if (loop.wave_split) {
    // Waves that run iterations of their own do not meet in the body.
    for (const ir::Op &inner : body.ops)
      if (inner.opcode == ir::Opcode::Load)
        parts_.order.before(inner);
    loop.iterations = iterations_of_wave(loop.iterations);
  }
  loop.exits.emplace_back(builder_.GetInsertBlock(), std::move(initial));
  return loop;
}

/// The results, where all exits meet.
void LoopEmitter::close(const Loop &loop) {
  CarriedValues results = loop.exits.front().second;
  if (loop.exits.front().first != loop.done) {
    builder_.SetInsertPoint(loop.done);
    results = phis_of(builder_, results);
    for (const auto &[from, values] : loop.exits)
      add_incoming(results, values, from);
  }
  for (size_t i = 0; i < results.size(); ++i) {
    const ir::ValueId result = loop.op.results[i];
    if (!loop.wave_split) {
      parts_.edges.arrive(result, loop.layouts[i], results[i]);
      continue;
    }
    const LinearLayout &layout = context_.plan.layouts.layout(result);
    parts_.values.define(result, layout,
                         sum_over_waves(builder_, parts_.exchange, results[i], loop.layouts[i], layout));
  }
}

/// The test stands at the end of the body, and once before it: a loop that runs knows that it does.
void LoopEmitter::emit(const ir::Op &op) {
  const LoopPlan &plan = context_.plan.loop(op);
  if (const auto *pipeline = std::get_if<LdsPipeline>(&plan.schedule))
    return emit_lds_pipeline(parts_, *pipeline);
  if (const auto *lds = std::get_if<LdsPrefetch>(&plan.schedule))
    return emit_lds_prefetch(parts_, *lds);
  Loop loop = open(op);
  const auto *prefetch = std::get_if<PrefetchPlan>(&plan.schedule);
  if (prefetch && prefetch->written_out != 0) {
    emit_written_out(loop, *prefetch);
    return close(loop);
  }
  llvm::BasicBlock *start = context_.new_block("start");
  builder_.CreateCondBr(loop.iterations.any, start, loop.done);
  builder_.SetInsertPoint(start);
  const MemoryOrder::Accesses skipped = parts_.order.accesses();
  if (prefetch)
    emit_prefetch_loop(loop, *prefetch);
  else
    emit_iterations(loop);
  parts_.order.add(skipped);
  close(loop);
}

void LoopEmitter::pin_order() {
  builder_.CreateIntrinsic(llvm::Intrinsic::amdgcn_sched_barrier, {}, {builder_.getInt32(0)});
}

void LoopEmitter::emit_iterations(Loop &loop) {
  const Iterations &iterations = loop.iterations;
  const CarriedValues initial = loop.exits.front().second;
  llvm::BasicBlock *before = builder_.GetInsertBlock();
  llvm::BasicBlock *block = context_.new_block("loop");
  builder_.CreateBr(block);
  builder_.SetInsertPoint(block);
  llvm::PHINode *index = builder_.CreatePHI(iterations.first->getType(), 2);
  index->addIncoming(iterations.first, before);
  const CarriedValues carried = phis_of(builder_, initial);
  add_incoming(carried, initial, before);
  parts_.order.expect(loop.body);
  const CarriedValues next = emit_iteration(loop, index, carried, {});
  // index < last here, so that the distance is exact as an unsigned number, and a step past the largest
  // integer is not taken.
  llvm::Value *more = builder_.CreateICmpUGT(builder_.CreateSub(iterations.last, index), iterations.step);
  llvm::Value *following = builder_.CreateAdd(index, iterations.step);
  llvm::BasicBlock *end = builder_.GetInsertBlock();
  builder_.CreateCondBr(more, block, loop.done);
  index->addIncoming(following, end);
  add_incoming(carried, next, end);
  loop.exits.emplace_back(end, next);
}

/// The condition before the first iteration is an operand, that of the next one is the body's.
void LoopEmitter::emit_while(const ir::Op &op) {
  const ir::Block &body = op.blocks.front();
  const ir::CarriedPlaces places = ir::carried_places(op.opcode);
  Loop loop{op, body, false, {}, {}, {}, context_.new_block("done")};
  CarriedValues initial;
  for (size_t i = 0; i < op.results.size(); ++i) {
    loop.layouts.push_back(assigned_layout(context_.plan, body.arguments[places.arguments + i]));
    initial.push_back(parts_.edges.leave(op.operands[places.inits + i], loop.layouts[i]));
  }
  llvm::BasicBlock *before = builder_.GetInsertBlock();
  llvm::BasicBlock *block = context_.new_block("loop");
  builder_.CreateCondBr(parts_.values.scalar(op.operands[0]), block, loop.done);
  builder_.SetInsertPoint(block);
  const CarriedValues carried = phis_of(builder_, initial);
  add_incoming(carried, initial, before);
  loop.exits.emplace_back(before, std::move(initial));
  const MemoryOrder::Accesses skipped = parts_.order.accesses();
  parts_.order.expect(body);
  const CarriedValues next = emit_body(op, loop.layouts, carried, {});
  llvm::BasicBlock *end = builder_.GetInsertBlock();
  builder_.CreateCondBr(parts_.values.scalar(body.ops.back().operands[0]), block, loop.done);
  add_incoming(carried, next, end);
  loop.exits.emplace_back(end, next);
  parts_.order.add(skipped);
  close(loop);
}

CarriedValues LoopEmitter::emit_iteration(const ir::Op &loop, const std::vector<LinearLayout> &layouts,
                                          llvm::Value *index, const CarriedValues &carried,
                                          const BodyCopy &copy) {
  parts_.values.define_scalar(loop.blocks.front().arguments[0], index);
  return emit_body(loop, layouts, carried, copy);
}

CarriedValues LoopEmitter::emit_body(const ir::Op &loop, const std::vector<LinearLayout> &layouts,
                                     const CarriedValues &carried, const BodyCopy &copy) {
  RegionCache::Scope region(parts_.cache);
  const ir::Block &body = loop.blocks.front();
  const ir::CarriedPlaces places = ir::carried_places(loop.opcode);
  for (size_t i = 0; i < carried.size(); ++i)
    parts_.edges.arrive(body.arguments[places.arguments + i], layouts[i], carried[i]);
  EmitContext::LoopScope inside(context_, loop);
  parts_.ops.emit_block(body, copy);
  context_.set_line(loop);
  CarriedValues next;
  for (size_t i = 0; i < carried.size(); ++i)
    next.push_back(parts_.edges.leave(body.ops.back().operands[places.yields + i], layouts[i]));
  return next;
}

} // namespace nereid::codegen
