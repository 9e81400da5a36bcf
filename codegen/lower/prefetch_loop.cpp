#include <algorithm>

#include <llvm/IR/IntrinsicsAMDGPU.h>

#include "codegen/lower/lowering.h"

namespace nereid::codegen {

/// Nothing moves across. The backend's scheduler would sink loads to their uses, and a wait counts loads in
/// the order in which they were issued, on every way into the loop.
void Lowering::pin_order() {
  builder_.CreateIntrinsic(llvm::Intrinsic::amdgcn_sched_barrier, {}, {builder_.getInt32(0)});
}

/// step * factor as an unsigned number, or the largest.
llvm::Value *Lowering::saturated_multiple(llvm::Value *step, unsigned factor) {
  llvm::Type *type = step->getType();
  llvm::Value *product = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umul_with_overflow, step,
                                                        llvm::ConstantInt::get(type, factor));
  return builder_.CreateSelect(builder_.CreateExtractValue(product, 1), llvm::Constant::getAllOnesValue(type),
                               builder_.CreateExtractValue(product, 0));
}

/// The loads of one round. Where it does not exist (`exists`; null: it does) they move nothing. The first
/// time, loads that take branches leave the plan.
Lowering::InFlightLoads Lowering::issue_iteration(const Loop &loop, PrefetchPlan &plan, llvm::Value *index,
                                                  llvm::Value *exists) {
  RegionCache::Scope region(cache_);
  values_.define_scalar(loop.body.arguments[0], index);
  InFlightLoads loads_in_flight;
  std::vector<const ir::Op *> issued;
  for (const ir::Op &op : loop.body.ops) {
    if (plan.addresses.count(&op) != 0 && context_.type(op.results[0]).rank() == 0)
      lower_op(op);
    if (std::find(plan.loads.begin(), plan.loads.end(), &op) == plan.loads.end())
      continue;
    context_.set_line(op);
    order_.before(op);
    if (std::optional<Registers> vectors = issue_load(op, {&plan, exists})) {
      loads_in_flight.push_back(std::move(*vectors));
      issued.push_back(&op);
    }
  }
  plan.loads = std::move(issued);
  context_.set_line(loop.op);
  return loads_in_flight;
}

/// A round whose loads are under way.
Lowering::CarriedValues Lowering::finish_iteration(const Loop &loop, const PrefetchPlan &plan,
                                                   llvm::Value *index, const CarriedValues &carried,
                                                   const InFlightLoads &loads_in_flight) {
  for (size_t i = 0; i < plan.loads.size(); ++i)
    issued_[plan.loads[i]] = loads_in_flight[i];
  CarriedValues next = lower_iteration(loop, index, carried);
  issued_.clear();
  return next;
}

/// The body stands `depth` times in the loop, each copy with registers of its own for what is in flight, so
/// that none is moved. A copy computes its round and starts the loads of the round `depth` later; loads of
/// rounds that do not exist are given the index of one that does, and move nothing where they go through
/// descriptors. The loop runs while all its rounds exist: a loop with one exit keeps its shape, and with it
/// the order of its loads. The rounds that are left, fewer than `depth`, follow with the loads that are under
/// way.
void Lowering::lower_prefetch_loop(Loop &loop, PrefetchPlan plan) {
  const Iterations &iterations = loop.iterations;
  const CarriedValues initial = loop.exits.front().second;
  std::vector<llvm::Value *> distance; // of rounds, from 0
  for (unsigned i = 0; i < 2 * plan.depth; ++i)
    distance.push_back(saturated_multiple(iterations.step, i));
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
    return layouts_.shared_quantizes.count(&op) != 0;
  });
  if (shares && context_.in_loop())
    order_.barrier();
  order_.expect(loop.body);
  std::vector<InFlightLoads> in_flight = {issue_iteration(loop, plan, iterations.first, nullptr)};
  if (plan.loads.empty())
    return lower_iterations(loop);
  pin_order();
  exchange_copies_ = plan.depth;
  for (unsigned i = 1; i < plan.depth; ++i) {
    in_flight.push_back(issue_ahead(iterations.first, all, i));
    pin_order();
  }
  llvm::BasicBlock *before = builder_.GetInsertBlock();
  llvm::BasicBlock *block = context_.new_block("loop"), *rest = context_.new_block("rest");

  const auto phis_at = [&](llvm::BasicBlock *at, const Stage &like) {
    builder_.SetInsertPoint(at);
    Stage stage{phis_of(like.numbers), phis_of(like.accumulators), {}};
    for (const InFlightLoads &loads_in_flight : like.in_flight)
      stage.in_flight.push_back(phis_of(loads_in_flight));
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
    exchange_copy_ = i;
    next.accumulators = finish_iteration(loop, plan, builder_.CreateAdd(index, distance[i]),
                                         next.accumulators, in_loop.in_flight[i]);
    pin_order();
    next.in_flight[i] = issue_ahead(index, left, plan.depth + i);
    pin_order();
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
    exchange_copy_ = i;
    accumulators = finish_iteration(loop, plan, builder_.CreateAdd(after.numbers[0][0], distance[i]),
                                    accumulators, after.in_flight[i]);
  }
  exchange_copy_ = 0;
  exchange_copies_ = 1;
  loop.exits.emplace_back(builder_.GetInsertBlock(), accumulators);
  builder_.CreateBr(loop.done);
}

} // namespace nereid::codegen
