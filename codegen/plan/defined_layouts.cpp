// In which layout values come out of the operations that make them.
#include "codegen/plan/defined_layouts.h"

#include <algorithm>

#include "codegen/assign/memory_layout.h"
#include "codegen/assign/operand_layout.h"
#include "codegen/assign/quantize_layout.h"
#include "codegen/assign/reduction_axis.h"
#include "codegen/convert/convert_plan.h"
#include "codegen/layout/layout_transforms.h"

namespace nereid::codegen {

namespace {

/// Whether a conversion is one exchange through LDS and no more than that.
bool is_one_exchange(const LinearLayout &from, const LinearLayout &to) {
  const Result<ConversionPlan> plan = plan_conversion(from, to, 8);
  if (!plan)
    return false;
  unsigned exchanges = 0;
  for (const ConversionStep &step : plan->steps)
    if (const auto *exchange = std::get_if<LdsStep>(&step))
      exchanges += exchange->passes;
  return exchanges == 1;
}

} // namespace

LinearLayout in_group_order(const LinearLayout &operand) {
  constexpr unsigned group_bits = 5;
  std::vector<unsigned> order;
  const unsigned registers = operand.bits(Space::Register);
  for (unsigned bit = 0; bit < group_bits; ++bit)
    for (unsigned reg = 0; reg < registers; ++reg)
      if (operand.flat_basis(Space::Register, reg) == uint64_t(1) << bit)
        order.push_back(reg);
  for (unsigned reg = 0; reg < registers; ++reg)
    if (std::find(order.begin(), order.end(), reg) == order.end())
      order.push_back(reg);
  return operand.permute_registers(order);
}

DefinedLayouts::DefinedLayouts(const FunctionIndex &index, const LayoutChoice &layouts)
    : index_(index), choice_(layouts), layouts_(layouts.assigned) {
  ir::for_each_op(index.function(), [&](const ir::Op &op, unsigned) { define(op); });
}

void DefinedLayouts::define(const ir::Op &op) {
  if (op.opcode == ir::Opcode::Quantize)
    return define_quantized(op);
  const ir::OpClass op_class = ir::facts(op.opcode).op_class;
  if (op_class == ir::OpClass::Reduce || op_class == ir::OpClass::Scan)
    return define_along_axis(op);
  if (op.results.size() != 1 || !layouts_[op.result()])
    return;
  if (auto write = choice_.writes.find(&op); write != choice_.writes.end())
    layouts_[op.result()] = write->second;
}

void DefinedLayouts::define_along_axis(const ir::Op &op) {
  const auto has_layout = [&](ir::ValueId result) { return layouts_[result].has_value(); };
  if (std::none_of(op.results.begin(), op.results.end(), has_layout))
    return;
  LinearLayout layout = operand_along_axis(op);
  if (ir::facts(op.opcode).op_class == ir::OpClass::Reduce)
    layout = reduce(layout, static_cast<unsigned>(op.integer("axis")));
  for (ir::ValueId result : op.results)
    if (layouts_[result])
      layouts_[result] = layout;
}

void DefinedLayouts::define_quantized(const ir::Op &op) {
  const LinearLayout operand = in_group_order(choice_.quantize_operands.at(&op));
  const ir::Function &function = index_.function();
  const LinearLayout scales = quantize_scales_layout(operand);
  if (ir::facts(*ir::format_named(op.string("format"))).bits == 6) {
    layouts_[op.results[1]] = scales;
    return;
  }
  const LinearLayout codes = quantize_codes_layout(operand, function.type(op.results[0]).shape);
  const bool is_shared = choice_.shared_quantizes.count(&op) != 0 &&
                         is_one_exchange(codes, choice_.layout(op.results[0])) &&
                         is_one_exchange(scales, choice_.layout(op.results[1]));
  if (!is_shared) {
    layouts_[op.results[0]] = codes;
    layouts_[op.results[1]] = scales;
  }
}

LinearLayout DefinedLayouts::without_moving(ir::ValueId value) const {
  const ir::Function &function = index_.function();
  std::vector<const ir::Op *> views; // from the value to what it is a view of
  ir::ValueId source = value;
  while (!layouts_[source] && is_view(index_, source) && !index_.is_rematerialisable(source)) {
    views.push_back(index_.definition(source));
    source = views.back()->operands[0];
  }
  const auto by_default = [&](ir::ValueId v) {
    return default_layout(function.type(v).shape, function.options.waves);
  };
  LinearLayout layout =
      layouts_[source] ? layouts_[source]->without_register_broadcast() : by_default(source);
  for (auto view = views.rbegin(); view != views.rend(); ++view) {
    const std::optional<LinearLayout> viewed = result_layout(function, **view, layout);
    const bool is_whole = viewed && viewed->is_surjective();
    layout = is_whole ? viewed->without_register_broadcast() : by_default((*view)->results[0]);
  }
  return layout;
}

LinearLayout DefinedLayouts::operand_along_axis(const ir::Op &op) const {
  LinearLayout layout = without_moving(op.operands[0]);
  if (axis_bits(layout, static_cast<unsigned>(op.integer("axis"))))
    return layout;
  const ir::Function &function = index_.function();
  return default_layout(function.type(op.operands[0]).shape, function.options.waves);
}

} // namespace nereid::codegen
