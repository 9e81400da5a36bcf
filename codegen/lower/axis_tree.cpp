// The tree along an axis that reductions with a combining function, scans and cumsum share.
#include "codegen/lower/axis_tree.h"

#include <bit>

#include "codegen/assign/reduction_axis.h"
#include "codegen/lower/lane_moves.h"
#include "codegen/lower/thread_position.h"
#include "codegen/lower/wave_pairs.h"

namespace nereid::codegen {

/// The tree so far. A block's total stands in the register in which all joined bits of the axis are 0.
struct AxisTree::Blocks {
  std::vector<Part> parts;  ///< by register: running, within the block; those of a reduction are not kept
  std::vector<Part> totals; ///< by register; only those of `heads` count
  std::vector<uint32_t> heads;
  uint32_t joined = 0; ///< bits of the register number that lie on the axis

  explicit Blocks(std::vector<Part> elements) : parts(std::move(elements)), totals(parts) {
    for (uint32_t r = 0; r < parts.size(); ++r)
      heads.push_back(r);
  }
};

llvm::Value *is_lower(EmitContext &context, Space space, unsigned bit) {
  return are_clear(context.builder, space == Space::Lane ? context.lane : context.wave, 1u << bit);
}

Part AxisTree::select(llvm::Value *condition, const Part &a, const Part &b) {
  Part result;
  for (size_t i = 0; i < a.size(); ++i)
    result.push_back(builder_.CreateSelect(condition, a[i], b[i]));
  return result;
}

AxisTree::Sides AxisTree::of_lanes(const Part &own, unsigned bit) {
  Part other;
  for (llvm::Value *value : own)
    other.push_back(shuffle_xor(context_, value, bit));
  if (rule_.commutes)
    return {own, other, other};
  llvm::Value *lower = is_lower(context_, Space::Lane, bit);
  const Part first = select(lower, own, other);
  return {first, select(lower, other, own), first};
}

std::vector<AxisTree::Sides> AxisTree::of_waves(const std::vector<Part> &own, unsigned bit) {
  std::vector<Sides> sides(own.size());
  for (size_t field = 0; field < own[0].size(); ++field) {
    Registers values;
    for (const Part &part : own)
      values.push_back(part[field]);
    const auto [lower, upper] = both_waves(context_, exchange_, values, bit);
    for (size_t i = 0; i < own.size(); ++i) {
      sides[i].first.push_back(lower[i]);
      sides[i].second.push_back(upper[i]);
      sides[i].before.push_back(lower[i]);
    }
  }
  return sides;
}

void AxisTree::join_in_registers(Blocks &blocks, unsigned bit) {
  const uint32_t mask = 1u << bit;
  for (uint32_t r = 0; rule_.is_scan && r < blocks.parts.size(); ++r)
    if (r & mask)
      blocks.parts[r] = rule_.combine(blocks.totals[r & ~(blocks.joined | mask)], blocks.parts[r]);
  blocks.joined |= mask;
  std::vector<uint32_t> lower;
  for (uint32_t head : blocks.heads)
    if (!(head & mask)) {
      blocks.totals[head] = rule_.combine(blocks.totals[head], blocks.totals[head | mask]);
      lower.push_back(head);
    }
  blocks.heads = std::move(lower);
}

void AxisTree::join_over_threads(Blocks &blocks, Space space, unsigned bit) {
  std::vector<Sides> sides;
  if (space == Space::Wave) {
    std::vector<Part> own;
    for (uint32_t head : blocks.heads)
      own.push_back(blocks.totals[head]);
    sides = of_waves(own, bit);
  }
  std::vector<Part> before(blocks.parts.size());
  for (size_t i = 0; i < blocks.heads.size(); ++i) {
    const uint32_t head = blocks.heads[i];
    const Sides both = space == Space::Wave ? sides[i] : of_lanes(blocks.totals[head], bit);
    before[head] = both.before;
    blocks.totals[head] = rule_.combine(both.first, both.second);
  }
  if (!rule_.is_scan)
    return;
  llvm::Value *lower = is_lower(context_, space, bit);
  for (uint32_t r = 0; r < blocks.parts.size(); ++r)
    blocks.parts[r] =
        select(lower, blocks.parts[r], rule_.combine(before[r & ~blocks.joined], blocks.parts[r]));
}

Part AxisTree::carry_over(Blocks &blocks, const std::vector<uint32_t> &along) {
  const size_t block = size_t(1) << std::popcount(blocks.joined);
  Part before = blocks.totals[along[0]];
  for (size_t first = block; first < along.size(); first += block) {
    for (size_t i = 0; rule_.is_scan && i < block; ++i)
      blocks.parts[along[first + i]] = rule_.combine(before, blocks.parts[along[first + i]]);
    if (!rule_.is_scan || first + block < along.size())
      before = rule_.combine(before, blocks.totals[along[first]]);
  }
  return before;
}

std::vector<Part> AxisTree::run(const ir::Op &op, std::vector<Part> parts, const LinearLayout &layout,
                                unsigned axis) {
  Blocks blocks(std::move(parts));
  for (unsigned bit = 0; bit < layout.dim(axis).bits; ++bit) {
    const auto holder = axis_bit_holder(layout, axis, bit);
    if (!holder)
      context_.fail(op, std::string(ir::facts(op.opcode).name) + " of a tile laid out as " + layout.text() +
                            " does not compile");
    if (holder->first == Space::Register)
      join_in_registers(blocks, holder->second);
    else
      join_over_threads(blocks, holder->first, holder->second);
  }
  std::vector<Part> reduced;
  for (const std::vector<uint32_t> &along : registers_along(layout, axis, blocks.joined))
    reduced.push_back(carry_over(blocks, along));
  return rule_.is_scan ? blocks.parts : reduced;
}

} // namespace nereid::codegen
