// Layouts through one operation: shape operations by the algebra's transforms, quantize by its groups.
#include "codegen/assign/operand_layout.h"

#include <algorithm>

#include "codegen/layout/layout_error.h"
#include "codegen/layout/layout_transforms.h"
#include "dsl/ir/format.h"

namespace nereid::codegen {

namespace {

/// The builder refuses reshapes through odd factors.
LinearLayout reshaped(const LinearLayout &layout, const ir::Shape &shape) {
  Result<LinearLayout> result = reshape(layout, shape);
  require_layout(result.ok(), "a reshape goes through an odd factor");
  return std::move(result).value();
}

/// The layout of what each group of `size` elements along the last dimension becomes.
LinearLayout by_groups(const LinearLayout &layout, int64_t size) {
  ir::Shape groups = layout.shape();
  groups.back() /= size;
  groups.push_back(size);
  return reduce(reshaped(layout, groups), layout.rank());
}

/// Two e2m1 codes are a byte.
bool packs_pairs(const ir::Shape &codes, const ir::Shape &x) { return codes.back() < x.back(); }

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

LinearLayout quantize_group_layout(const LinearLayout &groups) {
  const unsigned last = groups.rank() - 1;
  return LinearLayout::identity1d(Space::Register, groups.rank(), last, ir::scale_group) * groups;
}

std::optional<LinearLayout> quantize_operand_layout(const LinearLayout &codes, const ir::Shape &x) {
  const bool pairs = packs_pairs(codes.shape(), x);
  const std::vector<uint64_t> &registers = codes.bases(Space::Register);
  for (int64_t step = 1; step < (pairs ? ir::scale_group / 2 : ir::scale_group); step *= 2)
    if (std::find(registers.begin(), registers.end(), static_cast<uint64_t>(step)) == registers.end())
      return std::nullopt;
  return pairs ? LinearLayout::identity1d(Space::Register, codes.rank(), codes.rank() - 1, 2) * codes : codes;
}

LinearLayout quantize_codes_layout(const LinearLayout &x, const ir::Shape &codes) {
  return packs_pairs(codes, x.shape()) ? by_groups(x, 2) : x;
}

LinearLayout quantize_scales_layout(const LinearLayout &x) { return by_groups(x, ir::scale_group); }

} // namespace nereid::codegen
