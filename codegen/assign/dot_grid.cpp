// Which matrix instruction a dot runs on, and how many of them.
#include "codegen/assign/dot_grid.h"

#include <algorithm>

#include <fmt/format.h>

#include "codegen/layout/layout_transforms.h"

namespace nereid::codegen {

std::vector<ir::ValueId> DotSides::operands() const {
  std::vector<ir::ValueId> result;
  for (const DotSide *side : {&a, &b}) {
    result.push_back(side->value);
    if (side->scale)
      result.push_back(*side->scale);
  }
  return result;
}

DotSides sides_of_dot(const ir::Function &function, const ir::Op &op) {
  size_t next = 0;
  const auto next_side = [&](const char *format_name) {
    DotSide side{op.operands[next++], std::nullopt, std::nullopt};
    side.format = ir::format_named(op.has(format_name) ? std::string_view(op.string(format_name))
                                                       : ir::facts(function.type(side.value).element).name);
    if (op.opcode == ir::Opcode::DotScaled && ir::facts(*side.format).scaled)
      side.scale = op.operands[next++];
    return side;
  };
  DotSides sides;
  sides.a = next_side("format_a");
  sides.b = next_side("format_b");
  return sides;
}

Dimension instructions_along(int64_t size, int64_t step) {
  const Dimension values = Dimension::of(size), one = Dimension::of(step);
  return {std::max(values.bits, one.bits) - one.bits, values.odd};
}

static int64_t values_along_k(const GridSide &side) {
  const bool packed = side.operand.format && ir::facts(*side.operand.format).scaled;
  return packed ? side.shape[1] * 8 / stored_bits(side.operand.format) : side.shape[1];
}

Result<DotGrid> dot_grid(const ir::Function &function, const ir::Op &op, bool large) {
  const DotSides sides = sides_of_dot(function, op);
  const ir::Shape &a = function.type(sides.a.value).shape, &b = function.type(sides.b.value).shape;
  DotGrid grid{function, {sides.a, "mk", a}, {sides.b, "nk", {b[1], b[0]}}};
  const std::optional<MfmaKind> kind = mfma_kind(sides.a.format, sides.b.format);
  for (GridSide *side : {&grid.a, &grid.b})
    side->facts = kind ? find_operand(*kind, side->operand.format) : nullptr;
  if (!grid.a.facts || !grid.b.facts)
    return nereid_error(fmt::format("{} of {} and {} has no matrix instruction here yet",
                                    ir::facts(op.opcode).name, name_of(sides.a.format),
                                    name_of(sides.b.format)),
                        "formats that compile: " + operand_formats(), function.location(op));
  const ir::Shape &shape = function.type(op.result()).shape;
  const bool fits_large = shape[0] % 32 == 0 && shape[1] % 32 == 0;
  grid.mfma = &find_mfma(*kind, large && fits_large ? 32 : 16);
  // The instruction's A is B^T and its B is A^T.
  grid.a.instruction = permute(grid.mfma->b_layout, {1, 0});
  grid.b.instruction = grid.mfma->a_layout;
  grid.m = instructions_along(shape[0], grid.mfma->size());
  grid.n = instructions_along(shape[1], grid.mfma->size());
  grid.k = instructions_along(values_along_k(grid.a), grid.mfma->k());
  grid.wave_bits = Dimension::of(function.options.waves).bits;
  return grid;
}

} // namespace nereid::codegen
