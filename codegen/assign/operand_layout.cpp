// Layouts through one operation, by the transforms of the algebra.
#include "codegen/assign/operand_layout.h"

#include "codegen/layout/layout_error.h"
#include "codegen/layout/layout_transforms.h"

namespace nereid::codegen {

namespace {

/// The builder refuses reshapes through odd factors.
LinearLayout reshaped(const LinearLayout &layout, const ir::Shape &shape) {
  Result<LinearLayout> result = reshape(layout, shape);
  require_layout(result.ok(), "a reshape goes through an odd factor");
  return std::move(result).value();
}

} // namespace

LinearLayout operand_layout(const ir::Function &function, const ir::Op &op, unsigned operand,
                            const LinearLayout &layout) {
  const ir::Shape &shape = function.type(op.operands[operand]).shape;
  if (shape.empty())
    return sub_layout(layout, {});
  switch (op.opcode) {
  case ir::Opcode::Broadcast:
    return broadcast_operand(layout, shape);
  case ir::Opcode::ExpandDims:
    return squeeze(layout, static_cast<unsigned>(op.integer("axis")));
  case ir::Opcode::Reshape:
    return reshaped(layout, shape);
  case ir::Opcode::Permute:
    return permute_operand(layout, op.integers("order"));
  case ir::Opcode::Split:
    return join(layout);
  case ir::Opcode::Join:
    return slice(layout, layout.rank() - 1);
  default:
    return layout;
  }
}

std::optional<LinearLayout> result_layout(const ir::Function &function, const ir::Op &op,
                                          const LinearLayout &layout) {
  switch (op.opcode) {
  case ir::Opcode::Broadcast:
    return std::nullopt;
  case ir::Opcode::ExpandDims:
    return expand_dims(layout, static_cast<unsigned>(op.integer("axis")));
  case ir::Opcode::Reshape:
    return reshaped(layout, function.type(op.result()).shape);
  case ir::Opcode::Permute:
    return permute(layout, op.integers("order"));
  case ir::Opcode::Split:
    return reduce(layout, layout.rank() - 1);
  case ir::Opcode::Join:
    return join(layout);
  default:
    return layout;
  }
}

} // namespace nereid::codegen
