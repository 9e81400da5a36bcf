// cumsum is a scan in log2 steps along its axis, the lowest bit first: blocks of 2^bit elements know their
// running sums and their total; the upper of two neighbours adds the total of the lower. The blocks that an
// odd factor makes follow each other in a lane's registers.
#include "codegen/lower/scan.h"

#include <bit>

#include "codegen/assign/memory_layout.h"
#include "codegen/assign/reduction_axis.h"
#include "codegen/lower/casts.h"
#include "codegen/lower/elementwise.h"
#include "codegen/lower/lane_moves.h"
#include "codegen/lower/thread_position.h"
#include "codegen/lower/wave_pairs.h"

namespace nereid::codegen {

/// The scan so far. A block's total stands in the register in which all joined bits of the axis are 0.
struct ScanEmitter::Blocks {
  Registers sums;   ///< running, within the block
  Registers totals; ///< by register; only those of `heads` count
  std::vector<uint32_t> heads;
  uint32_t joined = 0; ///< bits of the register number that lie on the axis

  explicit Blocks(Registers elements) : sums(std::move(elements)), totals(sums) {
    for (uint32_t r = 0; r < sums.size(); ++r)
      heads.push_back(r);
  }
};

void ScanEmitter::join_in_registers(Blocks &blocks, unsigned bit) {
  const uint32_t mask = 1u << bit;
  for (uint32_t r = 0; r < blocks.sums.size(); ++r)
    if (r & mask)
      blocks.sums[r] = add_numbers(builder_, blocks.totals[r & ~(blocks.joined | mask)], blocks.sums[r]);
  blocks.joined |= mask;
  std::vector<uint32_t> lower;
  for (uint32_t head : blocks.heads)
    if (!(head & mask)) {
      blocks.totals[head] = add_numbers(builder_, blocks.totals[head], blocks.totals[head | mask]);
      lower.push_back(head);
    }
  blocks.heads = std::move(lower);
}

void ScanEmitter::join_over_threads(Blocks &blocks, Space space, unsigned bit) {
  Registers own, lower, both;
  for (uint32_t head : blocks.heads)
    own.push_back(blocks.totals[head]);
  if (space == Space::Wave) {
    auto [first, second] = both_waves(context_, exchange_, own, bit);
    lower = first;
    for (size_t i = 0; i < own.size(); ++i)
      both.push_back(add_numbers(builder_, first[i], second[i]));
  } else {
    for (llvm::Value *total : own) {
      lower.push_back(shuffle_xor(context_, total, bit));
      both.push_back(add_numbers(builder_, total, lower.back()));
    }
  }
  // In the upper block alone: the sum and what comes before it.
  llvm::Value *number = space == Space::Lane ? context_.lane : context_.wave;
  llvm::Value *is_lower = are_clear(builder_, number, 1u << bit);
  Registers before(blocks.sums.size());
  for (size_t i = 0; i < blocks.heads.size(); ++i) {
    before[blocks.heads[i]] = lower[i];
    blocks.totals[blocks.heads[i]] = both[i];
  }
  for (uint32_t r = 0; r < blocks.sums.size(); ++r) {
    llvm::Value *upper = add_numbers(builder_, before[r & ~blocks.joined], blocks.sums[r]);
    blocks.sums[r] = builder_.CreateSelect(is_lower, blocks.sums[r], upper);
  }
}

/// `along`: the registers of a lane along the axis, block by block.
void ScanEmitter::carry_over(Blocks &blocks, const std::vector<uint32_t> &along) {
  const size_t block = size_t(1) << std::popcount(blocks.joined);
  llvm::Value *before = blocks.totals[along[0]];
  for (size_t first = block; first < along.size(); first += block) {
    for (size_t i = 0; i < block; ++i)
      blocks.sums[along[first + i]] = add_numbers(builder_, before, blocks.sums[along[first + i]]);
    if (first + block < along.size())
      before = add_numbers(builder_, before, blocks.totals[along[first]]);
  }
}

/// Narrow floats are summed as f32 and rounded once, at the end.
void ScanEmitter::emit(const ir::Op &op) {
  const auto axis = static_cast<unsigned>(op.integer("axis"));
  const ir::Element element = context_.type(op.result()).element;
  LinearLayout layout = values_.available_layout(op.operands[0]);
  if (!axis_bits(layout, axis))
    layout = default_layout(context_.type(op.operands[0]).shape, context_.function().options.waves);
  Registers elements = values_.get(op.operands[0], layout);
  if (ir::is_float(element))
    for (llvm::Value *&value : elements)
      value = widen(builder_, value);
  Blocks blocks(std::move(elements));
  for (unsigned bit = 0; bit < layout.dim(axis).bits; ++bit) {
    const auto holder = axis_bit_holder(layout, axis, bit);
    if (!holder)
      context_.fail(op, "cumsum of a tile laid out as " + layout.text() + " does not compile");
    if (holder->first == Space::Register)
      join_in_registers(blocks, holder->second);
    else
      join_over_threads(blocks, holder->first, holder->second);
  }
  for (const std::vector<uint32_t> &along : registers_along(layout, axis, blocks.joined))
    carry_over(blocks, along);
  if (ir::is_float(element))
    for (llvm::Value *&value : blocks.sums)
      value = narrow(builder_, value, element);
  values_.define(op.result(), layout, blocks.sums);
}

} // namespace nereid::codegen
