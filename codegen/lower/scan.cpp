#include <bit>

#include "codegen/assign/reduction_axis.h"
#include "codegen/lower/lowering.h"

namespace nereid::codegen {

/// The same register of the wave whose bit `bit` is 0, and of the wave where it is 1.
std::array<Registers, 2> Lowering::both_waves(const Registers &values, unsigned bit) {
  // Positions as a tile of their own: registers, lanes and waves are its dimensions.
  const unsigned waves = scalar_layout_.bits(Space::Wave), lanes = scalar_layout_.bits(Space::Lane);
  std::array<std::vector<uint64_t>, 3> from;
  unsigned at = 0;
  for (unsigned i = 0; i < waves; ++i)
    from[2].push_back(uint64_t(1) << at++);
  for (unsigned i = 0; i < lanes; ++i)
    from[1].push_back(uint64_t(1) << at++);
  const Dimension registers = Dimension::of(static_cast<int64_t>(values.size()));
  for (unsigned i = 0; i < registers.bits; ++i)
    from[0].push_back(uint64_t(1) << at++);
  std::array<std::vector<uint64_t>, 3> to = from;
  to[0].insert(to[0].begin(), to[2][bit]);
  to[2][bit] = 0;
  const ir::Shape shape = {int64_t(registers.odd) << at};
  std::vector<Repeat> repeats;
  if (registers.odd > 1)
    repeats.push_back({Space::Register, registers.odd, 0});
  const Registers moved = exchange_.convert(values, LinearLayout::from_flat_bases(shape, from, repeats),
                                            LinearLayout::from_flat_bases(shape, to, repeats));
  std::array<Registers, 2> result;
  for (size_t i = 0; i < moved.size(); ++i)
    result[i % 2].push_back(moved[i]);
  return result;
}

/// Where a bit of the axis lies in a layout whose columns on the axis are single bits.
static std::optional<std::pair<Space, unsigned>> holder_of(const LinearLayout &layout, uint64_t flat_basis) {
  for (Space space : all_spaces)
    for (unsigned bit = 0; bit < layout.bits(space); ++bit)
      if (layout.flat_basis(space, bit) == flat_basis)
        return std::pair{space, bit};
  return std::nullopt;
}

/// Bit by bit along the axis, the lowest first: blocks of 2^bit elements know their running sums and their
/// total; the upper of two neighbours adds the total of the lower. A total stands in those registers in which
/// all bits of the axis so far are 0. Blocks of 2^bits elements, of which an odd factor makes several, follow
/// each other in a lane's registers. Narrow floats are summed as f32 and rounded once, at the end.
void Lowering::lower_cumsum(const ir::Op &op) {
  const auto axis = static_cast<unsigned>(op.integer("axis"));
  const ir::Element element = context_.type(op.result()).element;
  const bool is_float = ir::is_float(element);
  LinearLayout layout = values_.available_layout(op.operands[0]);
  if (!axis_bits(layout, axis))
    layout = default_layout(context_.type(op.operands[0]).shape, function_.options.waves);
  Registers accumulators = values_.get(op.operands[0], layout);
  context_.set_line(op);
  if (is_float)
    for (llvm::Value *&value : accumulators)
      value = widen(builder_, value);
  const auto add = [&](llvm::Value *a, llvm::Value *b) {
    return is_float ? builder_.CreateFAdd(a, b) : builder_.CreateAdd(a, b);
  };
  Registers totals = accumulators;
  uint32_t done = 0;
  std::vector<uint32_t> heads;
  for (uint32_t r = 0; r < accumulators.size(); ++r)
    heads.push_back(r);
  for (unsigned bit = 0; bit < layout.dim(axis).bits; ++bit) {
    const auto holder = holder_of(layout, uint64_t(1) << (layout.first_bit(axis) + bit));
    if (!holder)
      context_.fail(op, "cumsum of a tile laid out as " + layout.text() + " does not compile");
    const auto [space, position] = *holder;
    if (space == Space::Register) {
      const uint32_t mask = 1u << position;
      for (uint32_t r = 0; r < accumulators.size(); ++r)
        if (r & mask)
          accumulators[r] = add(totals[r & ~(done | mask)], accumulators[r]);
      done |= mask;
      std::vector<uint32_t> kept;
      for (uint32_t head : heads)
        if (!(head & mask)) {
          totals[head] = add(totals[head], totals[head | mask]);
          kept.push_back(head);
        }
      heads = std::move(kept);
      continue;
    }
    Registers own, lower, both;
    for (uint32_t head : heads)
      own.push_back(totals[head]);
    if (space == Space::Wave) {
      auto [first, second] = both_waves(own, position);
      lower = first;
      for (size_t i = 0; i < own.size(); ++i)
        both.push_back(add(first[i], second[i]));
    } else {
      for (llvm::Value *total : own) {
        lower.push_back(shuffle_xor(context_, total, position));
        both.push_back(add(total, lower.back()));
      }
    }
    // In the upper block alone: the sum and what comes before it.
    llvm::Value *is_lower =
        are_clear(builder_, space == Space::Lane ? context_.lane : context_.wave, 1u << position);
    Registers before(accumulators.size());
    for (size_t i = 0; i < heads.size(); ++i)
      before[heads[i]] = lower[i];
    for (uint32_t r = 0; r < accumulators.size(); ++r)
      accumulators[r] =
          builder_.CreateSelect(is_lower, accumulators[r], add(before[r & ~done], accumulators[r]));
    for (size_t i = 0; i < heads.size(); ++i)
      totals[heads[i]] = both[i];
  }
  const size_t block = size_t(1) << std::popcount(done);
  for (const std::vector<uint32_t> &along : registers_along(layout, axis, done)) {
    llvm::Value *before = totals[along[0]];
    for (size_t first = block; first < along.size(); first += block) {
      for (size_t i = 0; i < block; ++i)
        accumulators[along[first + i]] = add(before, accumulators[along[first + i]]);
      if (first + block < along.size())
        before = add(before, totals[along[first]]);
    }
  }
  if (is_float)
    for (llvm::Value *&value : accumulators)
      value = narrow(builder_, value, element);
  values_.define(op.result(), layout, accumulators);
}

} // namespace nereid::codegen
