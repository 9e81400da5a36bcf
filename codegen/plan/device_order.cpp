// Which accesses the releases and acquires of a kernel concern: by their place in the function and its loops.
#include "codegen/plan/device_order.h"

#include <algorithm>
#include <limits>

namespace nereid::codegen {
namespace {

bool has_order(const ir::Op &op, const char *order) {
  return op.has("scope") && op.string("scope") == "device" &&
         (op.string("order") == order || op.string("order") == "acq_rel");
}

class Planner {
public:
  Planner(const FunctionIndex &index, const std::vector<LoopPlan> &loops) : index_(index), loops_(loops) {}

  DeviceOrder run() {
    find_atomics(index_.function().body, nullptr);
    collect(index_.function().body, nullptr);
    if (order_.fences)
      order_.accesses.clear();
    return std::move(order_);
  }

private:
  /// Lines of operations; a loop's are those of its body too.
  struct Lines {
    unsigned first, last;
  };

  Lines lines(const ir::Op &op) const {
    return {index_.line(op), index_.line(ir::is_loop(op.opcode) ? op.blocks[0].ops.back() : op)};
  }
  void find_atomics(const ir::Block &block, const ir::Op *outermost_loop);
  void collect(const ir::Block &block, const ir::Op *loop);
  std::optional<Objection> objection(const ir::Op &load, const ir::Op &loop) const;

  const FunctionIndex &index_;
  const std::vector<LoopPlan> &loops_;
  DeviceOrder order_;
  unsigned first_acquired_ =
      std::numeric_limits<unsigned>::max(); ///< lines from here on may follow an acquire
  unsigned last_released_ = 0;              ///< lines to here may precede a release
};

/// What an atomic in a loop orders is the whole loop, iteration by iteration.
void Planner::find_atomics(const ir::Block &block, const ir::Op *outermost_loop) {
  for (const ir::Op &op : block.ops) {
    const Lines reach = lines(outermost_loop ? *outermost_loop : op);
    if (acquires_from_device(op))
      first_acquired_ = std::min(first_acquired_, reach.first);
    if (releases_to_device(op))
      last_released_ = std::max(last_released_, reach.last);
    order_.has_atomics = order_.has_atomics || acquires_from_device(op) || releases_to_device(op);
    for (const ir::Block &inner : op.blocks)
      find_atomics(inner, outermost_loop ? outermost_loop : ir::is_loop(op.opcode) ? &op : nullptr);
  }
}

/// `loop`: the innermost one around the block.
void Planner::collect(const ir::Block &block, const ir::Op *loop) {
  for (const ir::Op &op : block.ops) {
    const unsigned line = index_.line(op);
    if (op.opcode == ir::Opcode::Store && line <= last_released_)
      order_.accesses.insert(&op);
    if (op.opcode == ir::Opcode::Load && line >= first_acquired_) {
      order_.accesses.insert(&op);
      if (loop && !order_.fences)
        order_.fences = objection(op, *loop);
    }
    for (const ir::Block &inner : op.blocks)
      collect(inner, ir::is_loop(op.opcode) ? &op : loop);
  }
}

std::optional<Objection> Planner::objection(const ir::Op &load, const ir::Op &loop) const {
  const auto plan =
      std::find_if(loops_.begin(), loops_.end(), [&](const LoopPlan &l) { return l.op == &loop; });
  if (plan != loops_.end() && (std::holds_alternative<LdsPipeline>(plan->schedule) ||
                               std::holds_alternative<LdsPrefetch>(plan->schedule)))
    return Objection{&load, "a loop over LDS, whose loads want the L2, follows an acquire"};
  const std::optional<ir::ValueId> pointer = argument_of(index_, load.operands[0]);
  const std::vector<ir::Argument> &arguments = index_.function().arguments;
  const bool is_input = std::any_of(arguments.begin(), arguments.end(), [&](const ir::Argument &argument) {
    return argument.read_only && argument.value == pointer;
  });
  if (is_input)
    return Objection{&load, "a load of an input in a loop, which wants the L2, follows an acquire"};
  return std::nullopt;
}

} // namespace

bool acquires_from_device(const ir::Op &op) { return has_order(op, "acquire"); }
bool releases_to_device(const ir::Op &op) { return has_order(op, "release"); }

DeviceOrder plan_device_order(const FunctionIndex &index, const std::vector<LoopPlan> &loops) {
  return Planner(index, loops).run();
}

} // namespace nereid::codegen
