// Loops of few iterations a wave, written out: all loads are in flight while the first is computed.
#include <algorithm>
#include <numeric>
#include <unordered_set>

#include <llvm/IR/IntrinsicInst.h>

#include "codegen/assign/quantize_layout.h"
#include "codegen/lower/body_copy.h"
#include "codegen/lower/lowering.h"
#include "codegen/target/cost_model.h"

namespace nereid::codegen {

/// What is quantised is loaded first. A few loads are started at once, as many as arrive in a round trip, and
/// the others between the conversions: a wave that issued them all would stand at the queue of the vector
/// memory until the last had its place, and what has arrived would wait. Dots go in the order in which their
/// operands arrive.
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
    size_t accesses_to_quantize = 0; ///< pending up to the last one that is quantised in this iteration
  };
  /// An access of a load that is still to be started, and where what it moves is wanted.
  struct PendingAccess {
    const ir::Op *load;
    MemoryEmitter::StartAccess start;
    llvm::Value **moved;
    size_t number; ///< of the load's accesses
    size_t bytes;  ///< of a lane
  };

  bool is_quantized(const ir::Op &load) const;
  std::vector<const ir::Op *> loads(bool quantized) const;
  void prepare(Iteration &iteration, const std::vector<const ir::Op *> &loads);
  void start(size_t until);
  void quantize(Iteration &iteration, const std::function<void()> &between);
  size_t groups() const;
  size_t accesses_within(size_t bytes) const;
  size_t pending_bytes() const;
  void load_and_quantize();
  size_t last_access(llvm::Value *value, const llvm::Instruction &border);
  void order_by_arrival(llvm::Instruction &border, const CarriedValues &sums);

  LoopEmitter &emitter_;
  Lowering &parts_;
  llvm::IRBuilder<> &builder_;
  Loop &loop_;
  const PrefetchPlan &plan_;
  std::vector<Iteration> iterations_;
  std::vector<PendingAccess> pending_;
  size_t started_ = 0; ///< of the pending accesses
  std::unordered_map<llvm::Value *, size_t> last_accesses_;
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
    const size_t bytes = accesses_of(parts_.context.plan, *load).bytes;
    moved.resize(accesses->size());
    for (size_t i = 0; i < accesses->size(); ++i)
      pending_.push_back({load, (*accesses)[i], &moved[i], i, bytes});
  }
  parts_.context.set_line(loop_.op);
}

/// Starts pending accesses up to number `until`, as far as they are not.
void LoopEmitter::WrittenOutLoop::start(size_t until) {
  if (started_ >= until)
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

/// That a wave quantises in an iteration.
size_t LoopEmitter::WrittenOutLoop::groups() const {
  size_t groups = 0;
  for (const ir::Op *op : plan_.quantizes) {
    const LinearLayout &x = parts_.context.plan.layouts.quantize_operands.at(op);
    groups += x.registers() / parts_of_groups(x).values;
  }
  return groups;
}

/// How many of the pending accesses move no more than `bytes` of a lane together.
size_t LoopEmitter::WrittenOutLoop::accesses_within(size_t bytes) const {
  size_t count = 0;
  for (size_t sum = 0; count < pending_.size() && sum + pending_[count].bytes <= bytes; ++count)
    sum += pending_[count].bytes;
  return count;
}

size_t LoopEmitter::WrittenOutLoop::pending_bytes() const {
  return std::accumulate(pending_.begin(), pending_.end(), size_t{0},
                         [](size_t sum, const PendingAccess &access) { return sum + access.bytes; });
}

/// All of what is quantised; then the others, of all iterations those first that the first columns need.
void LoopEmitter::WrittenOutLoop::load_and_quantize() {
  size_t at_once = cost::bytes_of_round_trip / parts_.context.waves();
  for (Iteration &iteration : iterations_) {
    prepare(iteration, loads(true));
    iteration.accesses_to_quantize = pending_.size();
    if (&iteration == &iterations_.front()) {
      at_once += groups() == 0 ? 0 : pending_bytes() / groups();
      start(pending_.size());
    }
    start(accesses_within(at_once));
  }
  for (const ir::Op *load : loads(false)) {
    const auto first = static_cast<ptrdiff_t>(pending_.size());
    for (Iteration &iteration : iterations_)
      prepare(iteration, {load});
    std::stable_sort(pending_.begin() + first, pending_.end(),
                     [](const PendingAccess &a, const PendingAccess &b) { return a.number < b.number; });
  }
  start(accesses_within(at_once));
  const size_t all = pending_bytes(), late = all - std::min(all, at_once);
  const size_t steps = std::max<size_t>(1, iterations_.size() * 2 * groups() * cost::steps_with_loads / 10);
  size_t step = 0;
  for (Iteration &iteration : iterations_) {
    start(iteration.accesses_to_quantize);
    quantize(iteration, [&] {
      step = std::min(step + 1, steps);
      start(accesses_within(at_once + late * step / steps));
    });
  }
  start(pending_.size());
}

void LoopEmitter::WrittenOutLoop::emit() {
  parts_.order.expect(loop_.body);
  for (size_t i = 0; i < iterations_.size(); ++i) {
    llvm::Value *distance = builder_.CreateMul(loop_.iterations.step,
                                               llvm::ConstantInt::get(loop_.iterations.step->getType(), i));
    iterations_[i].index = builder_.CreateAdd(loop_.iterations.first, distance);
  }
  load_and_quantize();
  emitter_.pin_order();
  llvm::Instruction &before_dots = builder_.GetInsertBlock()->back();
  CarriedValues sums = loop_.exits.front().second;
  for (const Iteration &iteration : iterations_)
    sums = emitter_.emit_iteration(loop_, iteration.index, sums, iteration.copy);
  order_by_arrival(before_dots, sums);
  // What follows stays in the block: sums leave for the LDS while the last dots wait for operands.
  loop_.done->eraseFromParent();
  loop_.done = builder_.GetInsertBlock();
  loop_.exits = {{loop_.done, sums}};
}

/// The number of the access that `value`, if it stands behind `border`, needs and that arrives last.
size_t LoopEmitter::WrittenOutLoop::last_access(llvm::Value *value, const llvm::Instruction &border) {
  const auto [entry, is_new] = last_accesses_.try_emplace(value, 0);
  const auto *instruction = llvm::dyn_cast<llvm::Instruction>(value);
  if (!is_new || !instruction || instruction->getParent() != border.getParent() ||
      instruction->comesBefore(&border))
    return entry->second;
  size_t last = 0;
  for (llvm::Value *operand : instruction->operands())
    last = std::max(last, last_access(operand, border));
  return last_accesses_[value] = last;
}

/// Arranges what stands behind `border` so that sums whose operands arrive first are complete first, over all
/// iterations; only computations without effects.
void LoopEmitter::WrittenOutLoop::order_by_arrival(llvm::Instruction &border, const CarriedValues &sums) {
  llvm::BasicBlock &block = *builder_.GetInsertBlock();
  const auto has_effects = [](const llvm::Instruction &instruction) {
    return instruction.mayWriteToMemory() && !llvm::isa<llvm::AssumeInst>(instruction);
  };
  if (border.getParent() != &block || std::any_of(std::next(border.getIterator()), block.end(), has_effects))
    return;
  for (size_t i = 0; i < pending_.size(); ++i)
    last_accesses_[*pending_[i].moved] = i;
  std::vector<llvm::Value *> wanted;
  for (const Registers &registers : sums)
    wanted.insert(wanted.end(), registers.begin(), registers.end());
  std::stable_sort(wanted.begin(), wanted.end(), [&](llvm::Value *a, llvm::Value *b) {
    return last_access(a, border) < last_access(b, border);
  });
  std::unordered_set<llvm::Value *> open;
  for (auto at = std::next(border.getIterator()); at != block.end(); ++at) {
    open.insert(&*at);
    wanted.push_back(&*at); // what no sum needs comes last
  }
  const std::function<void(llvm::Value *)> place = [&](llvm::Value *value) {
    if (open.erase(value) == 0)
      return;
    auto *instruction = llvm::cast<llvm::Instruction>(value);
    for (llvm::Value *operand : instruction->operands())
      place(operand);
    instruction->moveBefore(block, block.end());
  };
  for (llvm::Value *value : wanted)
    place(value);
}

} // namespace nereid::codegen
