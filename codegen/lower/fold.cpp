// Reductions and scans with a combining function, cumsum, and butterflies.
#include "codegen/lower/fold.h"

#include "codegen/assign/memory_layout.h"
#include "codegen/assign/reduction_axis.h"
#include "codegen/layout/layout_transforms.h"
#include "codegen/lower/casts.h"
#include "codegen/lower/elementwise.h"
#include "codegen/lower/lane_moves.h"
#include "codegen/lower/lowering.h"
#include "codegen/lower/wave_pairs.h"

namespace nereid::codegen {

FoldEmitter::FoldEmitter(Lowering &parts)
    : parts_(parts), context_(parts.context), builder_(parts.context.builder) {}

LinearLayout FoldEmitter::layout_along(const ir::Op &op) const {
  LinearLayout layout = parts_.values.available_layout(op.operands[0]);
  if (axis_bits(layout, static_cast<unsigned>(op.integer("axis"))))
    return layout;
  return default_layout(context_.type(op.operands[0]).shape, context_.function().options.waves);
}

Part FoldEmitter::combine(const ir::Op &op, const Part &a, const Part &b) {
  const ir::Block &block = op.blocks.front();
  RegionCache::Scope region(parts_.cache);
  for (size_t i = 0; i < a.size(); ++i) {
    parts_.values.define_scalar(block.arguments[i], a[i]);
    parts_.values.define_scalar(block.arguments[a.size() + i], b[i]);
  }
  parts_.ops.emit_block(block);
  Part result;
  for (ir::ValueId combined : block.ops.back().operands)
    result.push_back(parts_.values.scalar(combined));
  context_.set_line(op);
  return result;
}

void FoldEmitter::emit(const ir::Op &op) {
  const auto axis = static_cast<unsigned>(op.integer("axis"));
  const LinearLayout layout = layout_along(op);
  std::vector<Part> elements(layout.registers());
  for (ir::ValueId operand : op.operands) {
    const Registers values = parts_.values.get(operand, layout);
    for (size_t r = 0; r < values.size(); ++r)
      elements[r].push_back(values[r]);
  }
  const bool is_scan = op.opcode == ir::Opcode::Scan;
  AxisTree tree(context_, parts_.exchange,
                {[&](const Part &a, const Part &b) { return combine(op, a, b); }, is_scan, false});
  const std::vector<Part> results = tree.run(op, std::move(elements), layout, axis);
  for (size_t field = 0; field < op.results.size(); ++field) {
    Registers registers;
    for (const Part &part : results)
      registers.push_back(part[field]);
    parts_.values.define_result(op.results[field], is_scan ? layout : reduce(layout, axis), registers);
  }
}

/// Narrow floats are summed as f32 and rounded once, at the end.
void FoldEmitter::emit_cumsum(const ir::Op &op) {
  const auto axis = static_cast<unsigned>(op.integer("axis"));
  const ir::Element element = context_.type(op.result()).element;
  const LinearLayout layout = layout_along(op);
  std::vector<Part> elements;
  for (llvm::Value *value : parts_.values.get(op.operands[0], layout))
    elements.push_back({ir::is_float(element) ? widen(builder_, value) : value});
  const auto add = [&](const Part &a, const Part &b) { return Part{add_numbers(builder_, a[0], b[0])}; };
  AxisTree tree(context_, parts_.exchange, {add, true, true});
  Registers sums;
  for (const Part &sum : tree.run(op, std::move(elements), layout, axis))
    sums.push_back(ir::is_float(element) ? narrow(builder_, sum[0], element) : sum[0]);
  parts_.values.define(op.result(), layout, sums);
}

void FoldEmitter::emit_butterfly(const ir::Op &op) {
  const auto axis = static_cast<unsigned>(op.integer("axis"));
  const LinearLayout layout = layout_along(op);
  Registers values = parts_.values.get(op.operands[0], layout);
  const auto distance = static_cast<uint64_t>(op.integer("distance"));
  for (unsigned bit = 0; bit < layout.dim(axis).bits; ++bit) {
    if (!(distance >> bit & 1))
      continue;
    const auto holder = axis_bit_holder(layout, axis, bit);
    if (!holder)
      context_.fail(op, "a butterfly of a tile laid out as " + layout.text() + " does not compile");
    const auto [space, at] = *holder;
    const Registers old = values;
    if (space == Space::Wave) {
      llvm::Value *lower = is_lower(context_, space, at);
      const auto [first, second] = both_waves(context_, parts_.exchange, old, at);
      for (size_t r = 0; r < old.size(); ++r)
        values[r] = builder_.CreateSelect(lower, second[r], first[r]);
    }
    for (size_t r = 0; r < old.size() && space != Space::Wave; ++r)
      values[r] = space == Space::Register ? old[r ^ size_t(1) << at] : shuffle_xor(context_, old[r], at);
  }
  parts_.values.define(op.result(), layout, values);
}

} // namespace nereid::codegen
