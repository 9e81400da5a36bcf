// Reductions and scans with a combining function, and butterflies.
#include "codegen/lower/fold.h"

#include <bit>

#include "codegen/assign/memory_layout.h"
#include "codegen/assign/reduction_axis.h"
#include "codegen/layout/layout_transforms.h"
#include "codegen/lower/lane_moves.h"
#include "codegen/lower/lowering.h"
#include "codegen/lower/thread_position.h"
#include "codegen/lower/wave_pairs.h"

namespace nereid::codegen {

/// The scan so far: blocks of 2^n elements know their running parts and their total, which stands in the
/// register in which all joined bits of the axis are 0.
struct FoldEmitter::Blocks {
  std::vector<Part> parts;  ///< by register: running, within the block; those of a reduction are not kept
  std::vector<Part> totals; ///< by register; only those of `heads` count
  std::vector<uint32_t> heads;
  uint32_t joined = 0; ///< bits of the register number that lie on the axis
  bool is_scan;
};

FoldEmitter::FoldEmitter(Lowering &parts)
    : parts_(parts), context_(parts.context), builder_(parts.context.builder) {}

LinearLayout FoldEmitter::layout_along(const ir::Op &op) const {
  LinearLayout layout = parts_.values.available_layout(op.operands[0]);
  if (axis_bits(layout, static_cast<unsigned>(op.integer("axis"))))
    return layout;
  return default_layout(context_.type(op.operands[0]).shape, context_.function().options.waves);
}

FoldEmitter::Part FoldEmitter::combine(const ir::Op &op, const Part &a, const Part &b) {
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

llvm::Value *FoldEmitter::is_lower(Space space, unsigned bit) {
  return are_clear(builder_, space == Space::Lane ? context_.lane : context_.wave, 1u << bit);
}

FoldEmitter::Part FoldEmitter::select(llvm::Value *condition, const Part &a, const Part &b) {
  Part result;
  for (size_t i = 0; i < a.size(); ++i)
    result.push_back(builder_.CreateSelect(condition, a[i], b[i]));
  return result;
}

std::vector<std::array<FoldEmitter::Part, 2>> FoldEmitter::both_sides(const std::vector<Part> &own,
                                                                      Space space, unsigned bit) {
  std::vector<std::array<Part, 2>> sides(own.size());
  if (space == Space::Wave) {
    for (size_t field = 0; field < own[0].size(); ++field) {
      Registers values;
      for (const Part &part : own)
        values.push_back(part[field]);
      const std::array<Registers, 2> waves = both_waves(context_, parts_.exchange, values, bit);
      for (size_t i = 0; i < own.size(); ++i)
        for (size_t side = 0; side < 2; ++side)
          sides[i][side].push_back(waves[side][i]);
    }
    return sides;
  }
  llvm::Value *lower = is_lower(space, bit);
  for (size_t i = 0; i < own.size(); ++i) {
    Part other;
    for (llvm::Value *value : own[i])
      other.push_back(shuffle_xor(context_, value, bit));
    sides[i] = {select(lower, own[i], other), select(lower, other, own[i])};
  }
  return sides;
}

void FoldEmitter::join_in_registers(const ir::Op &op, Blocks &blocks, unsigned bit) {
  const uint32_t mask = 1u << bit;
  for (uint32_t r = 0; blocks.is_scan && r < blocks.parts.size(); ++r)
    if (r & mask)
      blocks.parts[r] = combine(op, blocks.totals[r & ~(blocks.joined | mask)], blocks.parts[r]);
  blocks.joined |= mask;
  std::vector<uint32_t> lower;
  for (uint32_t head : blocks.heads)
    if (!(head & mask)) {
      blocks.totals[head] = combine(op, blocks.totals[head], blocks.totals[head | mask]);
      lower.push_back(head);
    }
  blocks.heads = std::move(lower);
}

void FoldEmitter::join_over_threads(const ir::Op &op, Blocks &blocks, Space space, unsigned bit) {
  std::vector<Part> own;
  for (uint32_t head : blocks.heads)
    own.push_back(blocks.totals[head]);
  const std::vector<std::array<Part, 2>> sides = both_sides(own, space, bit);
  std::vector<Part> before(blocks.parts.size());
  for (size_t i = 0; i < blocks.heads.size(); ++i) {
    before[blocks.heads[i]] = sides[i][0];
    blocks.totals[blocks.heads[i]] = combine(op, sides[i][0], sides[i][1]);
  }
  if (!blocks.is_scan)
    return;
  llvm::Value *lower = is_lower(space, bit);
  for (uint32_t r = 0; r < blocks.parts.size(); ++r)
    blocks.parts[r] =
        select(lower, blocks.parts[r], combine(op, before[r & ~blocks.joined], blocks.parts[r]));
}

FoldEmitter::Part FoldEmitter::carry_over(const ir::Op &op, Blocks &blocks,
                                          const std::vector<uint32_t> &along) {
  const size_t block = size_t(1) << std::popcount(blocks.joined);
  Part before = blocks.totals[along[0]];
  for (size_t first = block; first < along.size(); first += block) {
    for (size_t i = 0; blocks.is_scan && i < block; ++i)
      blocks.parts[along[first + i]] = combine(op, before, blocks.parts[along[first + i]]);
    if (!blocks.is_scan || first + block < along.size())
      before = combine(op, before, blocks.totals[along[first]]);
  }
  return before;
}

void FoldEmitter::emit(const ir::Op &op) {
  const auto axis = static_cast<unsigned>(op.integer("axis"));
  const LinearLayout layout = layout_along(op);
  Blocks blocks{{}, {}, {}, 0, op.opcode == ir::Opcode::Scan};
  blocks.parts.resize(layout.registers());
  for (ir::ValueId operand : op.operands) {
    const Registers values = parts_.values.get(operand, layout);
    for (size_t r = 0; r < values.size(); ++r)
      blocks.parts[r].push_back(values[r]);
  }
  blocks.totals = blocks.parts;
  for (uint32_t r = 0; r < layout.registers(); ++r)
    blocks.heads.push_back(r);
  for (unsigned bit = 0; bit < layout.dim(axis).bits; ++bit) {
    const auto holder = axis_bit_holder(layout, axis, bit);
    if (!holder)
      context_.fail(op, "a reduction of a tile laid out as " + layout.text() + " does not compile");
    if (holder->first == Space::Register)
      join_in_registers(op, blocks, holder->second);
    else
      join_over_threads(op, blocks, holder->first, holder->second);
  }
  std::vector<Part> reduced;
  for (const std::vector<uint32_t> &along : registers_along(layout, axis, blocks.joined))
    reduced.push_back(carry_over(op, blocks, along));
  const LinearLayout result = blocks.is_scan ? layout : reduce(layout, axis);
  for (size_t field = 0; field < op.results.size(); ++field) {
    Registers registers;
    for (const Part &part : blocks.is_scan ? blocks.parts : reduced)
      registers.push_back(part[field]);
    parts_.values.define_result(op.results[field], result, registers);
  }
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
      llvm::Value *lower = is_lower(space, at);
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
