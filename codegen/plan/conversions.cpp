// The layout conversions of operations, without their code.
#include "codegen/plan/conversions.h"

#include "codegen/assign/buffer_access.h"
#include "codegen/assign/memory_layout.h"

namespace nereid::codegen {

void ConversionWalk::request(ir::ValueId value, const LinearLayout &layout) {
  std::vector<LayoutRequest> open = {{value, layout}};
  while (!open.empty()) {
    const LayoutRequest next = std::move(open.back());
    open.pop_back();
    follow(next, open);
  }
}

void ConversionWalk::follow(const LayoutRequest &request, std::vector<LayoutRequest> &open) {
  if (function_.type(request.value).rank() == 0)
    return;
  const LayoutRequest once{request.value, request.layout.without_register_broadcast()};
  if (!seen_.insert(once).second)
    return;
  if (const LinearLayout *from = defined_.of(once.value)) {
    if (*from != once.layout)
      conversions_.push_back({user_, once, *from});
    return;
  }
  const ir::Op *op = index_.definition(once.value);
  if (!op)
    return;
  computed_.push_back(op);
  for (LayoutRequest &operand : operand_requests(function_, *op, once.layout))
    open.push_back(std::move(operand));
}

void ConversionWalk::visit(const ir::Block &block) {
  for (const ir::Op &op : block.ops)
    visit(op);
  // What a region carries on crosses its edge in the layout of the carried value.
  user_ = &block.ops.back();
  if (user_->opcode != ir::Opcode::Yield || block.arguments.empty())
    return;
  for (size_t i = 0; i < user_->operands.size(); ++i)
    if (const LinearLayout *carried = defined_.of(block.arguments[i + 1]))
      request(user_->operands[i], *carried);
}

void ConversionWalk::visit(const ir::Op &op) {
  user_ = &op;
  switch (op.opcode) {
  case ir::Opcode::Dot:
  case ir::Opcode::DotScaled:
    return visit_dot(op);
  case ir::Opcode::Quantize:
    return request(op.operands[0], in_group_order(layouts_.quantize_operands.at(&op)));
  case ir::Opcode::DeviceAssert:
    return request(op.operands[0], defined_.without_moving(op.operands[0]));
  default:
    break;
  }
  const ir::OpClass op_class = ir::facts(op.opcode).op_class;
  if (op_class == ir::OpClass::Memory)
    visit_memory(op);
  else if (op_class == ir::OpClass::Reduce || op_class == ir::OpClass::Scan)
    for (ir::ValueId operand : op.operands)
      request(operand, defined_.operand_along_axis(op));
  else if (op_class == ir::OpClass::Gather)
    visit_gather(op);
  else if (ir::is_elementwise(op.opcode) || op_class == ir::OpClass::Source || op.opcode == ir::Opcode::Join)
    visit_pure(op);
  else if (op_class == ir::OpClass::Shape && function_.type(op.result()).rank() == 0)
    visit_element(op);
}

void ConversionWalk::visit_memory(const ir::Op &op) {
  const bool is_load = op.opcode == ir::Opcode::Load;
  if (function_.type(op.operands[0]).rank() == 0)
    return;
  const LinearLayout &layout = is_load ? layouts_.layout(op.result()) : layouts_.writes.at(&op);
  const LinearLayout leaders = access_leaders(index_, axes_, op, layout);
  const bool is_atomic = !is_load && op.opcode != ir::Opcode::Store;
  const std::optional<size_t> mask = mask_operand(op);
  for (size_t i = 0; i < op.operands.size(); ++i)
    request(op.operands[i], !is_atomic && (i == 0 || i == mask) ? leaders : layout);
}

/// The elements come from LDS, in the layout of the index.
void ConversionWalk::visit_gather(const ir::Op &op) {
  if (const LinearLayout *layout = defined_.of(op.result()))
    request(op.operands[1], *layout);
}

void ConversionWalk::visit_dot(const ir::Op &op) {
  const DotPlan &plan = layouts_.dots.at(&op);
  const DotSides sides = sides_of_dot(function_, op);
  for (const auto &[side, operand] : {std::pair(&sides.a, &plan.a), std::pair(&sides.b, &plan.b)}) {
    request(side->value,
            operand->facts->has_six_bits() ? defined_.without_moving(side->value) : operand->layout);
    if (side->scale)
      request(*side->scale, operand->scale_layout);
  }
}

/// Scalars, and tiles with a layout of their own, are computed where they stand; others where they are
/// wanted.
void ConversionWalk::visit_pure(const ir::Op &op) {
  if (function_.type(op.result()).rank() == 0) {
    computed_.push_back(&op);
  } else if (const LinearLayout *layout = defined_.of(op.result())) {
    computed_.push_back(&op);
    for (const LayoutRequest &operand : operand_requests(function_, op, *layout))
      request(operand.value, operand.layout);
  }
}

/// A tile's only element as a scalar, which is computed where it stands.
void ConversionWalk::visit_element(const ir::Op &op) {
  computed_.push_back(&op);
  for (const LayoutRequest &operand : operand_requests(function_, op, scalar_layout(function_.options.waves)))
    request(operand.value, operand.layout);
}

ConversionOptions conversion_options(const ir::CompileOptions &options, bool in_split_loop) {
  ConversionOptions result;
  result.allow_lds = !in_split_loop || options.wave_split != ir::WaveSplit::K;
  return result;
}

Result<ConversionPlan> plan_of(const ir::Function &function, const Conversion &conversion,
                               const ConversionOptions &options) {
  const ir::Type &type = function.type(conversion.wanted.value);
  constexpr unsigned pointer_bits = 64;
  const unsigned bits = type.pointer ? pointer_bits : ir::facts(type.element).bits;
  return plan_conversion(conversion.from, conversion.wanted.layout, bits, options);
}

} // namespace nereid::codegen
