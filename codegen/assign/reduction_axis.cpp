// Which registers, lanes and waves a reduction or running sum has to combine.
#include "codegen/assign/reduction_axis.h"

#include <bit>
#include <map>

#include "codegen/layout/bits.h"

namespace nereid::codegen {

std::optional<AxisBits> axis_bits(const LinearLayout &layout, unsigned axis) {
  const uint64_t axis_mask = low_mask(layout.dim(axis).bits) << layout.first_bit(axis);
  AxisBits result;
  uint64_t seen = 0;
  for (Space space : all_spaces)
    for (unsigned bit = 0; bit < layout.bits(space); ++bit) {
      const uint64_t basis = layout.flat_basis(space, bit);
      if ((basis & axis_mask) == 0)
        continue;
      if (!std::has_single_bit(basis) || (seen & basis) != 0)
        return std::nullopt;
      seen |= basis;
      uint32_t &bits = space == Space::Register ? result.registers
                       : space == Space::Lane   ? result.lanes
                                                : result.waves;
      bits |= 1u << bit;
    }
  return result;
}

std::optional<std::pair<Space, unsigned>> axis_bit_holder(const LinearLayout &layout, unsigned axis,
                                                          unsigned bit) {
  const uint64_t wanted = uint64_t(1) << (layout.first_bit(axis) + bit);
  for (Space space : all_spaces)
    for (unsigned at = 0; at < layout.bits(space); ++at)
      if (layout.flat_basis(space, at) == wanted)
        return std::pair{space, at};
  return std::nullopt;
}

std::vector<std::vector<uint32_t>> registers_along(const LinearLayout &layout, unsigned axis, uint32_t bits) {
  const unsigned own_bits = layout.bits(Space::Register);
  // The first register along the axis: its bits and digits there are 0.
  const auto first_of_row = [&](uint32_t reg) {
    uint32_t rest = reg >> own_bits, stride = uint32_t(1) << own_bits;
    uint32_t result = reg & (stride - 1) & ~bits;
    for (const Repeat &repeat : layout.repeats()) {
      if (repeat.owner != Space::Register)
        continue;
      if (repeat.dim != static_cast<int>(axis))
        result += rest % repeat.count * stride;
      rest /= repeat.count;
      stride *= repeat.count;
    }
    return result;
  };
  std::map<uint32_t, std::vector<uint32_t>> rows;
  for (uint32_t reg = 0; reg < layout.registers(); ++reg)
    rows[first_of_row(reg)].push_back(reg);
  std::vector<std::vector<uint32_t>> result;
  result.reserve(rows.size());
  for (auto &[first, row] : rows)
    result.push_back(std::move(row));
  return result;
}

} // namespace nereid::codegen
