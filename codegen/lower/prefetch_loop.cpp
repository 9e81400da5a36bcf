// Register prefetch: loops whose loads are issued iterations ahead of their use.
#include <algorithm>

#include "codegen/lower/body_copy.h"
#include "codegen/lower/lowering.h"

namespace nereid::codegen {

/// The loop is unrolled `depth` times, each copy of the body with registers of its own for what is in flight,
/// so that none is moved. A copy computes its iteration and starts the loads of the iteration `depth` later;
/// loads of iterations that do not exist are given the index of one that does, and move nothing where they go
/// through descriptors. The loop runs while all its iterations exist: a loop with one exit keeps its shape,
/// and with it the order of its loads. The remaining iterations, fewer than `depth`, follow with the
/// loads that are in flight.
class LoopEmitter::PrefetchLoop {
public:
  PrefetchLoop(LoopEmitter &emitter, Loop &loop, const PrefetchPlan &plan)
      : emitter_(emitter), parts_(emitter.parts_), builder_(emitter.builder_), loop_(loop), plan_(plan) {}

  void emit();

private:
  /// What is in flight of one iteration: the vectors of each load of the plan.
  using InFlightLoads = std::vector<Registers>;
  /// Between iterations: integers that say where the loop stands, accumulators, loads in flight.
  struct State {
    CarriedValues numbers;
    CarriedValues accumulators;
    std::vector<InFlightLoads> in_flight;
  };

  llvm::Value *saturated_multiple(llvm::Value *step, unsigned factor);
  /// Whether the iteration `count` after the one with distance `left` to the end exists.
  llvm::Value *exists(llvm::Value *left, unsigned count) {
    return builder_.CreateICmpUGT(left, distance_[count]);
  }
  Registers iterations_left(llvm::Value *left, unsigned passed);
  InFlightLoads issue(llvm::Value *index, llvm::Value *in_bounds);
  InFlightLoads issue_ahead(llvm::Value *index, llvm::Value *left, unsigned count);
  CarriedValues finish(unsigned copy, llvm::Value *index, const CarriedValues &carried,
                       const InFlightLoads &in_flight);
  void meet_before_exchanges();
  State phis_at(llvm::BasicBlock *block, const State &like);
  void enter(const State &state, const State &values, llvm::BasicBlock *from) const;
  void emit_loop(const State &state, const State &after, llvm::BasicBlock *rest);
  void emit_rest(const State &after);
  void pin_order() { emitter_.pin_order(); }

  LoopEmitter &emitter_;
  Lowering &parts_;
  llvm::IRBuilder<> &builder_;
  Loop &loop_;
  const PrefetchPlan &plan_;
  std::vector<llvm::Value *> distance_; ///< of that many iterations
};

void LoopEmitter::emit_prefetch_loop(Loop &loop, const PrefetchPlan &plan) {
  PrefetchLoop(*this, loop, plan).emit();
}

/// step * factor as an unsigned number, or the largest.
llvm::Value *LoopEmitter::PrefetchLoop::saturated_multiple(llvm::Value *step, unsigned factor) {
  llvm::Type *type = step->getType();
  llvm::Value *product = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umul_with_overflow, step,
                                                        llvm::ConstantInt::get(type, factor));
  return builder_.CreateSelect(builder_.CreateExtractValue(product, 1), llvm::Constant::getAllOnesValue(type),
                               builder_.CreateExtractValue(product, 0));
}

/// The loads of one iteration. Where there is none (`in_bounds`; null: there is) they move nothing.
LoopEmitter::PrefetchLoop::InFlightLoads LoopEmitter::PrefetchLoop::issue(llvm::Value *index,
                                                                          llvm::Value *in_bounds) {
  RegionCache::Scope region(parts_.cache);
  parts_.values.define_scalar(loop_.body.arguments[0], index);
  InFlightLoads in_flight;
  for (const ir::Op &op : loop_.body.ops) {
    if (plan_.addresses.count(&op) != 0 && parts_.context.type(op.results[0]).rank() == 0)
      parts_.ops.emit(op);
    if (std::find(plan_.loads.begin(), plan_.loads.end(), &op) == plan_.loads.end())
      continue;
    parts_.context.set_line(op);
    parts_.order.before(op);
    std::optional<Registers> vectors = parts_.memory.issue_load(op, {&plan_, in_bounds});
    if (!vectors)
      parts_.context.fail(op, "a load that is to be issued ahead takes branches",
                          "use stages=1, and please report the kernel");
    in_flight.push_back(std::move(*vectors));
  }
  parts_.context.set_line(loop_.op);
  return in_flight;
}

LoopEmitter::PrefetchLoop::InFlightLoads
LoopEmitter::PrefetchLoop::issue_ahead(llvm::Value *index, llvm::Value *left, unsigned count) {
  llvm::Value *is_there = exists(left, count);
  llvm::Value *later = builder_.CreateAdd(index, distance_[count]);
  return issue(builder_.CreateSelect(is_there, later, index), is_there);
}

/// An iteration whose loads are in flight, in copy number `copy` of the body.
CarriedValues LoopEmitter::PrefetchLoop::finish(unsigned copy, llvm::Value *index,
                                                const CarriedValues &carried,
                                                const InFlightLoads &in_flight) {
  BodyCopy body{copy, plan_.depth};
  for (size_t i = 0; i < plan_.loads.size(); ++i)
    body.issued[plan_.loads[i]] = in_flight[i];
  return emitter_.emit_iteration(loop_, index, carried, body);
}

/// Other waves may still be in the last exchange of an earlier run of this loop.
void LoopEmitter::PrefetchLoop::meet_before_exchanges() {
  const bool exchanges = std::any_of(loop_.body.ops.begin(), loop_.body.ops.end(), [&](const ir::Op &op) {
    return parts_.context.plan.layouts.shared_quantizes.count(&op) != 0;
  });
  if (exchanges && parts_.context.in_loop())
    parts_.order.barrier();
}

LoopEmitter::PrefetchLoop::State LoopEmitter::PrefetchLoop::phis_at(llvm::BasicBlock *block,
                                                                    const State &like) {
  builder_.SetInsertPoint(block);
  State state{phis_of(builder_, like.numbers), phis_of(builder_, like.accumulators), {}};
  for (const InFlightLoads &in_flight : like.in_flight)
    state.in_flight.push_back(phis_of(builder_, in_flight));
  return state;
}

void LoopEmitter::PrefetchLoop::enter(const State &state, const State &values, llvm::BasicBlock *from) const {
  add_incoming(state.numbers, values.numbers, from);
  add_incoming(state.accumulators, values.accumulators, from);
  for (unsigned i = 0; i < plan_.depth; ++i)
    add_incoming(state.in_flight[i], values.in_flight[i], from);
}

/// Which iterations are left after the loop, from the distance that was left `passed` iterations before. A
/// subtraction that stops at zero is no scalar instruction.
Registers LoopEmitter::PrefetchLoop::iterations_left(llvm::Value *left, unsigned passed) {
  Registers there;
  for (unsigned i = 0; i + 1 < plan_.depth; ++i)
    there.push_back(exists(left, passed + i));
  return there;
}

void LoopEmitter::PrefetchLoop::emit() {
  const Iterations &iterations = loop_.iterations;
  const CarriedValues initial = loop_.exits.front().second;
  for (unsigned i = 0; i < 2 * plan_.depth; ++i)
    distance_.push_back(saturated_multiple(iterations.step, i));
  // Exact as an unsigned number, as long as there is an iteration.
  llvm::Value *all = builder_.CreateSub(iterations.last, iterations.first);
  meet_before_exchanges();
  parts_.order.expect(loop_.body);
  std::vector<InFlightLoads> in_flight = {issue(iterations.first, nullptr)};
  pin_order();
  for (unsigned i = 1; i < plan_.depth; ++i) {
    in_flight.push_back(issue_ahead(iterations.first, all, i));
    pin_order();
  }
  llvm::BasicBlock *before = builder_.GetInsertBlock();
  llvm::BasicBlock *block = parts_.context.new_block("loop"), *rest = parts_.context.new_block("rest");
  const State first{{{iterations.first, all}}, initial, in_flight};
  const State none{{{iterations.first}, iterations_left(all, 0)}, initial, in_flight};
  builder_.CreateCondBr(exists(all, plan_.depth - 1), block, rest);
  const State in_loop = phis_at(block, first), after = phis_at(rest, none);
  enter(in_loop, first, before);
  enter(after, none, before);

  builder_.SetInsertPoint(block);
  emit_loop(in_loop, after, rest);
  builder_.SetInsertPoint(rest);
  emit_rest(after);
}

void LoopEmitter::PrefetchLoop::emit_loop(const State &state, const State &after, llvm::BasicBlock *rest) {
  llvm::BasicBlock *block = builder_.GetInsertBlock();
  llvm::Value *index = state.numbers[0][0], *left = state.numbers[0][1];
  State next = state;
  for (unsigned i = 0; i < plan_.depth; ++i) {
    next.accumulators =
        finish(i, builder_.CreateAdd(index, distance_[i]), next.accumulators, state.in_flight[i]);
    pin_order();
    next.in_flight[i] = issue_ahead(index, left, plan_.depth + i);
    pin_order();
  }
  llvm::Value *following = builder_.CreateAdd(index, distance_[plan_.depth]);
  next.numbers = {{following, builder_.CreateSub(left, distance_[plan_.depth])}};
  const State to_rest{{{following}, iterations_left(left, plan_.depth)}, next.accumulators, next.in_flight};
  llvm::BasicBlock *end = builder_.GetInsertBlock();
  builder_.CreateCondBr(exists(left, 2 * plan_.depth - 1), block, rest);
  enter(state, next, end);
  enter(after, to_rest, end);
}

void LoopEmitter::PrefetchLoop::emit_rest(const State &after) {
  CarriedValues accumulators = after.accumulators;
  for (unsigned i = 0; i + 1 < plan_.depth; ++i) {
    llvm::BasicBlock *iteration = parts_.context.new_block("left");
    loop_.exits.emplace_back(builder_.GetInsertBlock(), accumulators);
    builder_.CreateCondBr(after.numbers[1][i], iteration, loop_.done);
    builder_.SetInsertPoint(iteration);
    accumulators =
        finish(i, builder_.CreateAdd(after.numbers[0][0], distance_[i]), accumulators, after.in_flight[i]);
  }
  loop_.exits.emplace_back(builder_.GetInsertBlock(), accumulators);
  builder_.CreateBr(loop_.done);
}

} // namespace nereid::codegen
