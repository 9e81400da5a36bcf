// Which arguments keep loads and stores from being wide: the analysis of the axes, again with each argument
// divisible.
#include "codegen/plan/narrow_access.h"

#include <algorithm>

#include "codegen/assign/buffer_access.h"

namespace nereid::codegen {
namespace {

bool is_accessed(const ir::Op &op) { return op.opcode == ir::Opcode::Load || op.opcode == ir::Opcode::Store; }

const AxisInfo *mask_info(const AxisAnalysis &axes, const ir::Op &op) {
  const size_t mask = op.opcode == ir::Opcode::Store ? 2 : 1;
  return op.operands.size() > mask ? &axes[op.operands[mask]] : nullptr;
}

/// Bytes that a lane may move at a time in the best layout.
unsigned width(const ir::Function &function, const AxisAnalysis &axes, const ir::Op &op) {
  const ir::Type &type = function.type(op.operands[0]);
  const unsigned bytes = ir::byte_size(type.element);
  const AxisInfo &pointer = axes[op.operands[0]], *mask = mask_info(axes, op);
  const AccessStart start = access_start(op);
  const LinearLayout layout =
      coalesced_layout(type.shape, pointer, mask, bytes, function.options.waves, start);
  return bytes * vector_access(layout, pointer, mask, bytes, start).elements();
}

/// Bytes that a lane does move at a time.
unsigned width_in_plan(const KernelPlan &plan, const ir::Op &op) {
  const unsigned bytes = ir::byte_size(plan.function().type(op.operands[0]).element);
  const LinearLayout &layout =
      op.opcode == ir::Opcode::Store ? plan.layouts.writes.at(&op) : plan.layouts.layout(op.result());
  return bytes *
         vector_access(layout, plan.axes[op.operands[0]], mask_info(plan.axes, op), bytes, access_start(op))
             .elements();
}

/// The analysis of the same function with other facts of its arguments.
class Variant {
public:
  Variant(const ir::Function &function, const std::vector<size_t> &divisible)
      : function_(function), index_(with(function_, divisible)), axes_(index_) {}
  const AxisAnalysis &axes() const { return axes_; }

private:
  static const ir::Function &with(ir::Function &function, const std::vector<size_t> &divisible) {
    for (const size_t i : divisible)
      function.arguments[i].divisibility = wanted_divisibility;
    return function;
  }
  ir::Function function_;
  FunctionIndex index_;
  AxisAnalysis axes_;
};

/// Arguments of which a launch might know more.
std::vector<size_t> open_arguments(const ir::Function &function) {
  std::vector<size_t> open;
  for (size_t i = 0; i < function.arguments.size(); ++i) {
    const ir::Argument &argument = function.arguments[i];
    const ir::Type &type = function.type(argument.value);
    if (!argument.constant && argument.divisibility % wanted_divisibility != 0 &&
        (type.pointer || ir::is_integer(type.element)))
      open.push_back(i);
  }
  return open;
}

} // namespace

std::vector<NarrowAccess> narrow_accesses(const KernelPlan &plan) {
  const ir::Function &function = plan.function();
  const std::vector<size_t> open = open_arguments(function);
  std::vector<NarrowAccess> narrow;
  if (open.empty())
    return narrow;
  const Variant all(function, open);
  ir::for_each_op(function, [&](const ir::Op &op, unsigned) {
    if (!is_accessed(op) || function.type(op.operands[0]).rank() == 0)
      return;
    const unsigned now = width_in_plan(plan, op), possible = width(function, all.axes(), op);
    if (now < possible && width(function, plan.axes, op) <= now)
      narrow.push_back({&op, now, possible, {}});
  });
  for (const size_t argument : open) {
    if (narrow.empty())
      break;
    std::vector<size_t> others = open;
    std::erase(others, argument);
    const Variant without(function, others);
    for (NarrowAccess &access : narrow)
      if (width(function, without.axes(), *access.op) < access.possible)
        access.arguments.push_back(argument);
  }
  return narrow;
}

} // namespace nereid::codegen
