// Register prefetch: a loop whose loads are issued iterations before the one that uses them.
#include <algorithm>

#include <llvm/IR/IntrinsicsAMDGPU.h>

#include "codegen/lower/lowering.h"

namespace nereid::codegen {

/// The body stands `depth` times in the loop, each copy with registers of its own for what is in flight, so
/// that none is moved. A copy computes its iteration and starts the loads of the iteration `depth` later;
/// loads of iterations that do not exist are given the index of one that does, and move nothing where they go
/// through descriptors. The loop runs while all its iterations exist: a loop with one exit keeps its shape,
/// and with it the order of its loads. The iterations that are left, fewer than `depth`, follow with the
/// loads that are under way.
class PrefetchLoopEmitter {
public:
  PrefetchLoopEmitter(Lowering &lowering, Lowering::Loop &loop, const PrefetchPlan &plan)
      : lowering_(lowering), builder_(lowering.builder_), loop_(loop), plan_(plan) {}

  void emit();

private:
  using CarriedValues = Lowering::CarriedValues;
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
  InFlightLoads issue(llvm::Value *index, llvm::Value *exists);
  InFlightLoads issue_ahead(llvm::Value *index, llvm::Value *left, unsigned count);
  CarriedValues finish(unsigned copy, llvm::Value *index, const CarriedValues &carried,
                       const InFlightLoads &in_flight);
  void meet_before_exchanges();
  State phis_at(llvm::BasicBlock *block, const State &like);
  void enter(const State &state, const State &values, llvm::BasicBlock *from) const;
  void emit_loop(const State &state, const State &after, llvm::BasicBlock *rest);
  void emit_rest(const State &after);
  void pin_order();

  Lowering &lowering_;
  llvm::IRBuilder<> &builder_;
  Lowering::Loop &loop_;
  const PrefetchPlan &plan_;
  std::vector<llvm::Value *> distance_; ///< of that many iterations
};

void Lowering::lower_prefetch_loop(Loop &loop, const PrefetchPlan &plan) {
  PrefetchLoopEmitter(*this, loop, plan).emit();
}

/// Nothing moves across. The backend's scheduler would sink loads to their uses, and a wait counts loads in
/// the order in which they were issued, on all paths into the loop.
void PrefetchLoopEmitter::pin_order() {
  builder_.CreateIntrinsic(llvm::Intrinsic::amdgcn_sched_barrier, {}, {builder_.getInt32(0)});
}

/// step * factor as an unsigned number, or the largest.
llvm::Value *PrefetchLoopEmitter::saturated_multiple(llvm::Value *step, unsigned factor) {
  llvm::Type *type = step->getType();
  llvm::Value *product = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umul_with_overflow, step,
                                                        llvm::ConstantInt::get(type, factor));
  return builder_.CreateSelect(builder_.CreateExtractValue(product, 1), llvm::Constant::getAllOnesValue(type),
                               builder_.CreateExtractValue(product, 0));
}

/// The loads of one iteration. Where it does not exist (`exists`; null: it does) they move nothing.
PrefetchLoopEmitter::InFlightLoads PrefetchLoopEmitter::issue(llvm::Value *index, llvm::Value *exists) {
  lowering_.open_scope();
  lowering_.iteration_exists_ = exists;
  lowering_.pipeline_ = &plan_;
  lowering_.define_scalar(loop_.body.arguments[0], index);
  InFlightLoads in_flight;
  for (const ir::Op &op : loop_.body.ops) {
    if (plan_.addresses.count(&op) != 0 && lowering_.type(op.results[0]).rank() == 0)
      lowering_.lower_op(op);
    if (std::find(plan_.loads.begin(), plan_.loads.end(), &op) == plan_.loads.end())
      continue;
    lowering_.set_line(op);
    lowering_.order_accesses(op);
    std::optional<Registers> vectors = lowering_.issue_load(op);
    if (!vectors)
      lowering_.fail(op, "a load that is to be issued ahead takes branches",
                     "use stages=1, and please report the kernel");
    in_flight.push_back(vectors.value_or(Registers()));
  }
  lowering_.pipeline_ = nullptr;
  lowering_.iteration_exists_ = nullptr;
  lowering_.close_scope();
  lowering_.set_line(loop_.op);
  return in_flight;
}

PrefetchLoopEmitter::InFlightLoads PrefetchLoopEmitter::issue_ahead(llvm::Value *index, llvm::Value *left,
                                                                    unsigned count) {
  llvm::Value *is_there = exists(left, count);
  llvm::Value *later = builder_.CreateAdd(index, distance_[count]);
  return issue(builder_.CreateSelect(is_there, later, index), is_there);
}

/// An iteration whose loads are in flight, in copy number `copy` of the body.
PrefetchLoopEmitter::CarriedValues PrefetchLoopEmitter::finish(unsigned copy, llvm::Value *index,
                                                               const CarriedValues &carried,
                                                               const InFlightLoads &in_flight) {
  lowering_.exchange_copy_ = copy;
  for (size_t i = 0; i < plan_.loads.size(); ++i)
    lowering_.issued_[plan_.loads[i]] = in_flight[i];
  CarriedValues next = lowering_.lower_iteration(loop_, index, carried);
  lowering_.issued_.clear();
  return next;
}

/// The waves' last exchanges in an earlier run of this loop may be under way.
void PrefetchLoopEmitter::meet_before_exchanges() {
  const bool exchanges = std::any_of(loop_.body.ops.begin(), loop_.body.ops.end(), [&](const ir::Op &op) {
    return lowering_.layouts_.shared_quantizes.count(&op) != 0;
  });
  if (exchanges && lowering_.loop_depth_ > 0)
    lowering_.barrier();
}

PrefetchLoopEmitter::State PrefetchLoopEmitter::phis_at(llvm::BasicBlock *block, const State &like) {
  builder_.SetInsertPoint(block);
  State state{lowering_.phis_of(like.numbers), lowering_.phis_of(like.accumulators), {}};
  for (const InFlightLoads &in_flight : like.in_flight)
    state.in_flight.push_back(lowering_.phis_of(in_flight));
  return state;
}

void PrefetchLoopEmitter::enter(const State &state, const State &values, llvm::BasicBlock *from) const {
  Lowering::add_incoming(state.numbers, values.numbers, from);
  Lowering::add_incoming(state.accumulators, values.accumulators, from);
  for (unsigned i = 0; i < plan_.depth; ++i)
    Lowering::add_incoming(state.in_flight[i], values.in_flight[i], from);
}

/// Which iterations are left after the loop, from the distance that was left `passed` iterations before. A
/// subtraction that stops at zero is no scalar instruction.
Registers PrefetchLoopEmitter::iterations_left(llvm::Value *left, unsigned passed) {
  Registers there;
  for (unsigned i = 0; i + 1 < plan_.depth; ++i)
    there.push_back(exists(left, passed + i));
  return there;
}

void PrefetchLoopEmitter::emit() {
  const Lowering::Iterations &iterations = loop_.iterations;
  const CarriedValues initial = loop_.exits.front().second;
  for (unsigned i = 0; i < 2 * plan_.depth; ++i)
    distance_.push_back(saturated_multiple(iterations.step, i));
  // Exact as an unsigned number, as long as there is an iteration.
  llvm::Value *all = builder_.CreateSub(iterations.last, iterations.first);
  meet_before_exchanges();
  lowering_.expect_accesses(loop_.body);
  std::vector<InFlightLoads> in_flight = {issue(iterations.first, nullptr)};
  pin_order();
  for (unsigned i = 1; i < plan_.depth; ++i) {
    in_flight.push_back(issue_ahead(iterations.first, all, i));
    pin_order();
  }
  llvm::BasicBlock *before = builder_.GetInsertBlock();
  llvm::BasicBlock *block = lowering_.new_block("loop"), *rest = lowering_.new_block("rest");
  const State first{{{iterations.first, all}}, initial, in_flight};
  const State none{{{iterations.first}, iterations_left(all, 0)}, initial, in_flight};
  builder_.CreateCondBr(exists(all, plan_.depth - 1), block, rest);
  const State in_loop = phis_at(block, first), after = phis_at(rest, none);
  enter(in_loop, first, before);
  enter(after, none, before);

  lowering_.exchange_copies_ = plan_.depth;
  builder_.SetInsertPoint(block);
  emit_loop(in_loop, after, rest);
  builder_.SetInsertPoint(rest);
  emit_rest(after);
  lowering_.exchange_copy_ = 0;
  lowering_.exchange_copies_ = 1;
}

void PrefetchLoopEmitter::emit_loop(const State &state, const State &after, llvm::BasicBlock *rest) {
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

void PrefetchLoopEmitter::emit_rest(const State &after) {
  CarriedValues accumulators = after.accumulators;
  for (unsigned i = 0; i + 1 < plan_.depth; ++i) {
    llvm::BasicBlock *iteration = lowering_.new_block("left");
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
