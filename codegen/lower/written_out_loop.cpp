// Loops of few iterations a wave, written out: all loads are in flight while the first is computed.
#include <algorithm>

#include "codegen/assign/quantize_layout.h"
#include "codegen/lower/body_copy.h"
#include "codegen/lower/lowering.h"

namespace nereid::codegen {

/// What is quantised is loaded first, then half of the rest. The other half is started during the first half
/// of the conversions, a few loads at a time: a wave that issued them all at once would stand at the queue of
/// the vector memory until the last had its place, and what has arrived would wait. Later ones would arrive
/// behind the last conversion, when only dots are left.
class LoopEmitter::WrittenOutLoop {
public:
  WrittenOutLoop(LoopEmitter &emitter, Loop &loop, const PrefetchPlan &plan)
      : emitter_(emitter), parts_(emitter.parts_), builder_(emitter.builder_), loop_(loop), plan_(plan),
        iterations_(plan.written_out) {}

  void emit();

private:
  struct Iteration {
    llvm::Value *index = nullptr;
    BodyCopy copy;
  };
  /// An access of a load that is still to be started, and where what it moves is wanted.
  struct PendingAccess {
    const ir::Op *load;
    MemoryEmitter::StartAccess start;
    llvm::Value **moved;
  };

  bool is_quantized(const ir::Op &load) const;
  std::vector<const ir::Op *> loads(bool quantized) const;
  void prepare(Iteration &iteration, const std::vector<const ir::Op *> &loads);
  void start(size_t until);
  void quantize(Iteration &iteration, const std::function<void()> &between);
  size_t half_groups() const;

  LoopEmitter &emitter_;
  Lowering &parts_;
  llvm::IRBuilder<> &builder_;
  Loop &loop_;
  const PrefetchPlan &plan_;
  std::vector<Iteration> iterations_;
  std::vector<PendingAccess> pending_;
  size_t started_ = 0; ///< of the pending accesses
};

void LoopEmitter::emit_written_out(Loop &loop, const PrefetchPlan &plan) {
  WrittenOutLoop(*this, loop, plan).emit();
}

bool LoopEmitter::WrittenOutLoop::is_quantized(const ir::Op &load) const {
  return std::any_of(plan_.quantizes.begin(), plan_.quantizes.end(),
                     [&](const ir::Op *op) { return op->operands[0] == load.result(); });
}

/// The smallest first: every dot needs scales.
std::vector<const ir::Op *> LoopEmitter::WrittenOutLoop::loads(bool quantized) const {
  std::vector<const ir::Op *> result;
  for (const ir::Op *load : plan_.loads)
    if (is_quantized(*load) == quantized)
      result.push_back(load);
  std::stable_sort(result.begin(), result.end(), [&](const ir::Op *a, const ir::Op *b) {
    return parts_.context.type(a->result()).count() < parts_.context.type(b->result()).count();
  });
  return result;
}

/// Makes the addresses.
void LoopEmitter::WrittenOutLoop::prepare(Iteration &iteration, const std::vector<const ir::Op *> &loads) {
  RegionCache::Scope region(parts_.cache);
  parts_.values.define_scalar(loop_.body.arguments[0], iteration.index);
  for (const ir::Op &op : loop_.body.ops)
    if (plan_.addresses.count(&op) != 0 && parts_.context.type(op.results[0]).rank() == 0)
      parts_.ops.emit(op);
  for (const ir::Op *load : loads) {
    parts_.context.set_line(*load);
    parts_.order.before(*load);
    const auto accesses = parts_.memory.prepare_load(*load, {&plan_, nullptr});
    if (!accesses)
      parts_.context.fail(*load, "a load that is to be issued ahead takes branches",
                          "use stages=1, and please report the kernel");
    Registers &moved = iteration.copy.issued[load];
    moved.resize(accesses->size());
    for (size_t i = 0; i < accesses->size(); ++i)
      pending_.push_back({load, (*accesses)[i], &moved[i]});
  }
  parts_.context.set_line(loop_.op);
}

/// Starts pending accesses up to number `until`.
void LoopEmitter::WrittenOutLoop::start(size_t until) {
  if (started_ == until)
    return;
  emitter_.pin_order();
  for (; started_ < until; ++started_) {
    const PendingAccess &access = pending_[started_];
    parts_.context.set_line(*access.load);
    *access.moved = access.start();
  }
  emitter_.pin_order();
}

void LoopEmitter::WrittenOutLoop::quantize(Iteration &iteration, const std::function<void()> &between) {
  RegionCache::Scope region(parts_.cache);
  parts_.values.define_scalar(loop_.body.arguments[0], iteration.index);
  for (const ir::Op *op : plan_.quantizes) {
    const ir::Op *load = parts_.context.plan.index.definition(op->operands[0]);
    parts_.context.set_line(*load);
    parts_.memory.finish_load(*load, iteration.copy.issued.at(load));
    parts_.context.set_line(*op);
    iteration.copy.quantized[op] = parts_.quantize.quantize(*op, between);
  }
}

/// That a wave quantises.
size_t LoopEmitter::WrittenOutLoop::half_groups() const {
  size_t groups = 0;
  for (const ir::Op *op : plan_.quantizes) {
    const LinearLayout &x = parts_.context.plan.layouts.quantize_operands.at(op);
    groups += x.registers() / parts_of_groups(x).values;
  }
  return iterations_.size() * 2 * groups;
}

void LoopEmitter::WrittenOutLoop::emit() {
  const auto env = [](const char *name, double d) { const char *t = getenv(name); return t ? atof(t) : d; };
  const auto early = static_cast<size_t>(env("W_EARLY", 18));
  const double share = env("W_SHARE", 1.0);
  parts_.order.expect(loop_.body);
  for (size_t i = 0; i < iterations_.size(); ++i) {
    llvm::Value *distance = builder_.CreateMul(loop_.iterations.step,
                                               llvm::ConstantInt::get(loop_.iterations.step->getType(), i));
    iterations_[i].index = builder_.CreateAdd(loop_.iterations.first, distance);
  }
  std::vector<size_t> ends; // of what each iteration quantises
  for (Iteration &iteration : iterations_) {
    prepare(iteration, loads(true));
    ends.push_back(pending_.size());
    start(std::max(ends.front(), std::min(pending_.size(), early)));
  }
  for (const ir::Op *load : loads(false))
    for (Iteration &iteration : iterations_)
      prepare(iteration, {load});
  start(std::max(started_, std::min(pending_.size(), early)));
  const size_t rest = pending_.size() - started_, before = started_;
  const size_t steps = std::max<size_t>(1, static_cast<size_t>(half_groups() * share));
  size_t step = 0;
  for (size_t i = 0; i < iterations_.size(); ++i) {
    start(std::max(started_, ends[i]));
    quantize(iterations_[i], [&] {
      step = std::min(step + 1, steps);
      start(std::max(started_, before + rest * step / steps));
    });
  }
  start(pending_.size());
  CarriedValues accumulators = loop_.exits.front().second;
  for (const Iteration &iteration : iterations_) {
    emitter_.pin_order();
    accumulators = emitter_.emit_iteration(loop_, iteration.index, accumulators, iteration.copy);
  }
  // What follows stays in the block, so that what is done of the sums may leave before the last dot.
  loop_.done->eraseFromParent();
  loop_.done = builder_.GetInsertBlock();
  loop_.exits = {{loop_.done, accumulators}};
}

} // namespace nereid::codegen
