#include <bit>

#include <llvm/IR/IntrinsicsAMDGPU.h>

#include "codegen/lower/lowering.h"

namespace nereid::codegen {

llvm::BasicBlock *Lowering::new_block(const char *name) {
  return llvm::BasicBlock::Create(context_, name, kernel_);
}

/// What crosses an edge: narrow elements go as dwords, so that the phis hold registers.
Registers Lowering::edge_values(ir::ValueId value, const LinearLayout &layout) {
  Registers registers = get(value, layout);
  unsigned bits = edge_bits(value, layout);
  return bits == 0 ? registers : pack(registers, bits);
}

unsigned Lowering::edge_bits(ir::ValueId value, const LinearLayout &layout) const {
  const ir::Type &t = type(value);
  unsigned bits = ir::facts(t.element).bits;
  bool packs = !t.pointer && (bits == 8 || bits == 16) && layout.registers() % (32 / bits) == 0;
  return packs ? bits : 0;
}

void Lowering::define_from_edge(ir::ValueId value, const LinearLayout &layout, const Registers &crossed) {
  const unsigned bits = edge_bits(value, layout);
  if (bits == 0)
    return define(value, layout, crossed);
  Registers registers;
  for (llvm::Value *dword : crossed) {
    Registers elements = unpack(dword, llvm_type(context_, type(value)), 32 / bits);
    registers.insert(registers.end(), elements.begin(), elements.end());
  }
  define(value, layout, registers);
}

/// The results of `op` at a join of two edges. All phis stand before what unpacks them.
void Lowering::define_merged(const ir::Op &op, const std::array<std::vector<Registers>, 2> &values,
                             const std::array<llvm::BasicBlock *, 2> &edges) {
  std::vector<Registers> merged(op.results.size());
  for (size_t i = 0; i < op.results.size(); ++i)
    for (size_t r = 0; r < values[0][i].size(); ++r) {
      llvm::PHINode *phi = builder_.CreatePHI(values[0][i][r]->getType(), 2);
      for (size_t edge = 0; edge < edges.size(); ++edge)
        phi->addIncoming(values[edge][i][r], edges[edge]);
      merged[i].push_back(phi);
    }
  for (size_t i = 0; i < op.results.size(); ++i)
    define_from_edge(op.results[i], natural_layout(op.results[i]), merged[i]);
}

/// Accesses of a loop's body may follow those of its next round.
void Lowering::expect_accesses(const ir::Block &block) {
  constexpr ir::ValueId no_pointer = ~ir::ValueId(0);
  for (const ir::Op &op : block.ops) {
    for (const ir::Block &inner : op.blocks)
      expect_accesses(inner);
    if (ir::facts(op.opcode).op_class == ir::OpClass::Memory)
      accesses_.push_back({root(op.operands[0]), no_pointer,
                           ir::facts(op.opcode).effect == ir::OpEffect::Effect, LinearLayout()});
  }
}

/// Wave w starts w steps later and goes on by as many steps as there are waves. A distance between first and
/// last is exact as an unsigned number; a step beyond all distances is as good as the largest number.
Lowering::Iterations Lowering::iterations_of_wave(Iterations all) {
  llvm::Type *type = all.first->getType();
  llvm::Value *start = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umul_with_overflow,
                                                      builder_.CreateZExt(wave_, type), all.step);
  llvm::Value *later = builder_.CreateExtractValue(start, 0);
  llvm::Value *inside = builder_.CreateICmpULT(later, builder_.CreateSub(all.last, all.first));
  inside = builder_.CreateAnd(inside, builder_.CreateNot(builder_.CreateExtractValue(start, 1)));
  auto wave_bits = static_cast<unsigned>(std::countr_zero(static_cast<unsigned>(function_.options.waves)));
  llvm::Constant *largest = llvm::Constant::getAllOnesValue(type);
  llvm::APInt most = llvm::APInt::getMaxValue(type->getIntegerBitWidth()).lshr(wave_bits);
  llvm::Value *fits = builder_.CreateICmpULE(all.step, llvm::ConstantInt::get(type, most));
  llvm::Value *step = builder_.CreateSelect(fits, builder_.CreateShl(all.step, wave_bits), largest);
  return {builder_.CreateAdd(all.first, later), all.last, step, builder_.CreateAnd(all.any, inside)};
}

/// Wave 0 starts with what the sum starts with, the others with -0 (integers: 0), which changes no
/// number that is added.
Registers Lowering::initial_accumulator_of_wave(const Registers &initial) {
  llvm::Value *first_wave = builder_.CreateICmpEQ(wave_, builder_.getInt32(0));
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

Lowering::CarriedValues Lowering::phis_of(const CarriedValues &values) {
  CarriedValues phis;
  for (const Registers &registers : values) {
    phis.emplace_back();
    for (llvm::Value *value : registers)
      phis.back().push_back(builder_.CreatePHI(value->getType(), 2));
  }
  return phis;
}

void Lowering::add_incoming(const CarriedValues &phis, const CarriedValues &values, llvm::BasicBlock *from) {
  for (size_t i = 0; i < phis.size(); ++i)
    for (size_t r = 0; r < phis[i].size(); ++r)
      llvm::cast<llvm::PHINode>(phis[i][r])->addIncoming(values[i][r], from);
}

/// The test stands at the end of the body, and once before it: a loop that runs knows that it does.
void Lowering::lower_for(const ir::Op &op) {
  if (lower_lds_pipeline(op))
    return;
  const ir::Block &body = op.blocks.front();
  Loop loop{op, body, layouts_.wave_split.contains(body), {}, {}, {}, new_block("done")};
  loop.iterations = {scalar(op.operands[0]), scalar(op.operands[1]), scalar(op.operands[2]), nullptr};
  loop.iterations.any = builder_.CreateICmpSLT(loop.iterations.first, loop.iterations.last);
  size_t count = op.results.size();
  CarriedValues initial;
  for (size_t i = 0; i < count; ++i) {
    loop.layouts.push_back(natural_layout(body.arguments[i + 1]));
    initial.push_back(edge_values(op.operands[i + 3], loop.layouts[i]));
    if (loop.wave_split)
      initial.back() = initial_accumulator_of_wave(initial.back());
  }
  if (loop.wave_split)
    loop.iterations = iterations_of_wave(loop.iterations);
  llvm::BasicBlock *start = new_block("start");
  builder_.CreateCondBr(loop.iterations.any, start, loop.done);
  loop.exits.emplace_back(builder_.GetInsertBlock(), initial);

  builder_.SetInsertPoint(start);
  const std::vector<Access> skipped = accesses_;
  if (PrefetchPlan plan = plan_prefetch(index_, layouts_, op); plan.overlaps())
    lower_prefetch_loop(loop, std::move(plan));
  else
    lower_iterations(loop);
  accesses_.insert(accesses_.end(), skipped.begin(), skipped.end());

  builder_.SetInsertPoint(loop.done);
  CarriedValues results = phis_of(initial);
  for (const auto &[from, values] : loop.exits)
    add_incoming(results, values, from);
  for (size_t i = 0; i < count; ++i)
    if (loop.wave_split)
      define(op.results[i], layouts_.layout(op.results[i]),
             sum_over_waves(results[i], loop.layouts[i], layouts_.layout(op.results[i])));
    else
      define_from_edge(op.results[i], loop.layouts[i], results[i]);
}

void Lowering::lower_iterations(Loop &loop) {
  const Iterations &iterations = loop.iterations;
  const CarriedValues initial = loop.exits.front().second;
  llvm::BasicBlock *before = builder_.GetInsertBlock();
  llvm::BasicBlock *block = new_block("loop");
  builder_.CreateBr(block);
  builder_.SetInsertPoint(block);
  llvm::PHINode *index = builder_.CreatePHI(iterations.first->getType(), 2);
  index->addIncoming(iterations.first, before);
  const CarriedValues carried = phis_of(initial);
  add_incoming(carried, initial, before);
  expect_accesses(loop.body);
  const CarriedValues next = lower_iteration(loop, index, carried);
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

/// The body once: what it carries on.
Lowering::CarriedValues Lowering::lower_iteration(const Loop &loop, llvm::Value *index,
                                                  const CarriedValues &carried) {
  open_scope();
  define_scalar(loop.body.arguments[0], index);
  for (size_t i = 0; i < carried.size(); ++i)
    define_from_edge(loop.body.arguments[i + 1], loop.layouts[i], carried[i]);
  if (loop.wave_split)
    wave_split_loop_ = &loop.op;
  ++loop_depth_;
  lower_block(loop.body);
  set_line(loop.op);
  // After an error what the body yields need not exist.
  CarriedValues next = error_ ? carried : CarriedValues();
  for (size_t i = 0; i < carried.size() && !error_; ++i)
    next.push_back(edge_values(loop.body.ops.back().operands[i], loop.layouts[i]));
  --loop_depth_;
  wave_split_loop_ = nullptr;
  close_scope();
  return next;
}

void Lowering::lower_if(const ir::Op &op) {
  llvm::Value *condition = scalar(op.operands[0]);
  llvm::BasicBlock *done = new_block("merged");
  llvm::BasicBlock *starts[2] = {new_block("then"), new_block("otherwise")};
  llvm::BasicBlock *ends[2];
  std::vector<Registers> values[2];
  builder_.CreateCondBr(condition, starts[0], starts[1]);
  std::vector<Access> before = accesses_, after;
  for (int side = 0; side < 2; ++side) {
    builder_.SetInsertPoint(starts[side]);
    accesses_ = before;
    open_scope();
    lower_block(op.blocks[side]);
    if (error_)
      return;
    set_line(op);
    for (size_t i = 0; i < op.results.size(); ++i)
      values[side].push_back(
          edge_values(op.blocks[side].ops.back().operands[i], natural_layout(op.results[i])));
    close_scope();
    after.insert(after.end(), accesses_.begin(), accesses_.end());
    ends[side] = builder_.GetInsertBlock();
    builder_.CreateBr(done);
  }
  accesses_ = std::move(after);
  builder_.SetInsertPoint(done);
  define_merged(op, {values[0], values[1]}, {ends[0], ends[1]});
}

void Lowering::lower_statement(const ir::Op &op) {
  if (op.opcode == ir::Opcode::DevicePrint)
    return fail(op, "device_print does not compile yet", "run the kernel in the interpreter");
  ir::ValueId value = op.operands[0];
  if (op.opcode == ir::Opcode::Assume) {
    builder_.CreateAssumption(scalar(value));
    return;
  }
  llvm::Value *good = builder_.getTrue();
  for (llvm::Value *element : get(value, natural_layout(value)))
    good = builder_.CreateAnd(good, element);
  guarded(builder_.CreateNot(good), {}, [&] {
    builder_.CreateIntrinsic(llvm::Intrinsic::trap, {});
    return Registers();
  });
}

} // namespace nereid::codegen
