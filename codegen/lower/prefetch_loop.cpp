// Loops whose loads are issued iterations ahead of their use, to registers.
#include <algorithm>

#include <llvm/IR/IntrinsicsAMDGPU.h>

#include "codegen/lower/lowering.h"

namespace nereid::codegen {

namespace {

/// Nothing moves across. The backend's scheduler would sink loads to their uses, and a wait counts loads in
/// the order in which they were issued, on every way into the loop.
void pin_order(llvm::IRBuilder<> &builder) {
  builder.CreateIntrinsic(llvm::Intrinsic::amdgcn_sched_barrier, {}, {builder.getInt32(0)});
}

/// step * factor as an unsigned number, or the largest.
llvm::Value *saturated_multiple(llvm::IRBuilder<> &builder, llvm::Value *step, unsigned factor) {
  llvm::Type *type = step->getType();
  llvm::Value *product = builder.CreateBinaryIntrinsic(llvm::Intrinsic::umul_with_overflow, step,
                                                       llvm::ConstantInt::get(type, factor));
  return builder.CreateSelect(builder.CreateExtractValue(product, 1), llvm::Constant::getAllOnesValue(type),
                              builder.CreateExtractValue(product, 0));
}

} // namespace

/// The loads of one iteration. Where there is none (`in_bounds`; null: there is) they move nothing. The first
/// time, loads that take branches leave the plan.
LoopEmitter::InFlightLoads LoopEmitter::issue_iteration(const Loop &loop, PrefetchPlan &plan,
                                                        llvm::Value *index, llvm::Value *in_bounds) {
  RegionCache::Scope region(parts_.cache);
  parts_.values.define_scalar(loop.body.arguments[0], index);
  InFlightLoads loads_in_flight;
  std::vector<const ir::Op *> issued;
  for (const ir::Op &op : loop.body.ops) {
    if (plan.addresses.count(&op) != 0 && context_.type(op.results[0]).rank() == 0)
      parts_.ops.emit(op);
    if (std::find(plan.loads.begin(), plan.loads.end(), &op) == plan.loads.end())
      continue;
    context_.set_line(op);
    parts_.order.before(op);
    if (std::optional<Registers> vectors = parts_.memory.issue_load(op, {&plan, in_bounds})) {
      loads_in_flight.push_back(std::move(*vectors));
      issued.push_back(&op);
    }
  }
  plan.loads = std::move(issued);
  context_.set_line(loop.op);
  return loads_in_flight;
}

/// An iteration whose loads are under way.
CarriedValues LoopEmitter::finish_iteration(const Loop &loop, const PrefetchPlan &plan, unsigned copy,
                                            llvm::Value *index, const CarriedValues &carried,
                                            const InFlightLoads &loads_in_flight) {
  BodyCopy body{copy, plan.depth};
  for (size_t i = 0; i < plan.loads.size(); ++i)
    body.issued[plan.loads[i]] = loads_in_flight[i];
  return emit_iteration(loop, index, carried, body);
}

/// The body stands `depth` times in the loop, each copy with registers of its own for what is in flight, so
/// that none is moved. A copy computes its round and starts the loads of the round `depth` later; loads of
/// rounds that do not exist are given the index of one that does, and move nothing where they go through
/// descriptors. The loop runs while all its rounds exist: a loop with one exit keeps its shape, and with it
/// the order of its loads. The rounds that are left, fewer than `depth`, follow with the loads that are under
/// way.
void LoopEmitter::emit_prefetch_loop(Loop &loop, PrefetchPlan plan) {
  const Iterations &iterations = loop.iterations;
  const CarriedValues initial = loop.exits.front().second;
  std::vector<llvm::Value *> distance; // of rounds, from 0
  for (unsigned i = 0; i < 2 * plan.depth; ++i)
    distance.push_back(saturated_multiple(builder_, iterations.step, i));
  // Exact as an unsigned number, as long as there is a round.
  llvm::Value *all = builder_.CreateSub(iterations.last, iterations.first);
  const auto exists = [&](llvm::Value *left, unsigned count) {
    return builder_.CreateICmpUGT(left, distance[count]);
  };
  const auto issue_ahead = [&](llvm::Value *index, llvm::Value *left, unsigned count) {
    llvm::Value *there = exists(left, count);
    llvm::Value *later = builder_.CreateAdd(index, distance[count]);
    return issue_iteration(loop, plan, builder_.CreateSelect(there, later, index), there);
  };

  // The waves' last exchanges in an earlier run of this loop may be under way.
  const bool shares = std::any_of(loop.body.ops.begin(), loop.body.ops.end(), [&](const ir::Op &op) {
    return context_.plan.layouts.shared_quantizes.count(&op) != 0;
  });
  if (shares && context_.in_loop())
    parts_.order.barrier();
  parts_.order.expect(loop.body);
  std::vector<InFlightLoads> in_flight = {issue_iteration(loop, plan, iterations.first, nullptr)};
  if (plan.loads.empty())
    return emit_iterations(loop);
  pin_order(builder_);
  for (unsigned i = 1; i < plan.depth; ++i) {
    in_flight.push_back(issue_ahead(iterations.first, all, i));
    pin_order(builder_);
  }
  llvm::BasicBlock *before = builder_.GetInsertBlock();
  llvm::BasicBlock *block = context_.new_block("loop"), *rest = context_.new_block("rest");

  const auto phis_at = [&](llvm::BasicBlock *at, const Stage &like) {
    builder_.SetInsertPoint(at);
    Stage stage{phis_of(builder_, like.numbers), phis_of(builder_, like.accumulators), {}};
    for (const InFlightLoads &loads_in_flight : like.in_flight)
      stage.in_flight.push_back(phis_of(builder_, loads_in_flight));
    return stage;
  };
  const auto enter = [&](const Stage &stage, const Stage &values, llvm::BasicBlock *from) {
    add_incoming(stage.numbers, values.numbers, from);
    add_incoming(stage.accumulators, values.accumulators, from);
    for (unsigned i = 0; i < plan.depth; ++i)
      add_incoming(stage.in_flight[i], values.in_flight[i], from);
  };
  // What is left after the loop, from the distance that was left `passed` rounds before: which of the rounds
  // exist. A subtraction that stops at zero is no scalar instruction.
  const auto iterations_left = [&](llvm::Value *left, unsigned passed) {
    Registers there;
    for (unsigned i = 0; i + 1 < plan.depth; ++i)
      there.push_back(exists(left, passed + i));
    return there;
  };
  const Stage first{{{iterations.first, all}}, initial, in_flight};
  Stage to_rest{{{iterations.first}, iterations_left(all, 0)}, initial, in_flight};
  builder_.CreateCondBr(exists(all, plan.depth - 1), block, rest);
  const Stage in_loop = phis_at(block, first), after = phis_at(rest, to_rest);
  enter(in_loop, first, before);
  enter(after, to_rest, before);

  builder_.SetInsertPoint(block);
  llvm::Value *index = in_loop.numbers[0][0], *left = in_loop.numbers[0][1];
  Stage next = in_loop;
  for (unsigned i = 0; i < plan.depth; ++i) {
    next.accumulators = finish_iteration(loop, plan, i, builder_.CreateAdd(index, distance[i]),
                                         next.accumulators, in_loop.in_flight[i]);
    pin_order(builder_);
    next.in_flight[i] = issue_ahead(index, left, plan.depth + i);
    pin_order(builder_);
  }
  llvm::Value *following = builder_.CreateAdd(index, distance[plan.depth]);
  next.numbers = {{following, builder_.CreateSub(left, distance[plan.depth])}};
  to_rest = {{{following}, iterations_left(left, plan.depth)}, next.accumulators, next.in_flight};
  llvm::BasicBlock *end = builder_.GetInsertBlock();
  builder_.CreateCondBr(exists(left, 2 * plan.depth - 1), block, rest);
  enter(in_loop, next, end);
  enter(after, to_rest, end);

  builder_.SetInsertPoint(rest);
  CarriedValues accumulators = after.accumulators;
  for (unsigned i = 0; i + 1 < plan.depth; ++i) {
    llvm::BasicBlock *round = context_.new_block("left");
    loop.exits.emplace_back(builder_.GetInsertBlock(), accumulators);
    builder_.CreateCondBr(after.numbers[1][i], round, loop.done);
    builder_.SetInsertPoint(round);
    accumulators = finish_iteration(loop, plan, i, builder_.CreateAdd(after.numbers[0][0], distance[i]),
                                    accumulators, after.in_flight[i]);
  }
  loop.exits.emplace_back(builder_.GetInsertBlock(), accumulators);
  builder_.CreateBr(loop.done);
}

} // namespace nereid::codegen
