#include "codegen/assign/operand_layout.h"

#include <algorithm>
#include <functional>
#include <map>

namespace nereid::codegen {

namespace {

using Columns = std::array<std::vector<uint64_t>, 3>;

using MapDimension = std::function<int(int)>;

/// Repeats keep their place among the registers; those over dimensions that `map_dimension` sends to
/// Repeat::copies hold copies.
LinearLayout map_bases(const LinearLayout &layout, const ir::Shape &shape,
                       const std::function<uint64_t(uint64_t)> &map, const MapDimension &map_dimension) {
  Columns bases;
  for (Space space : all_spaces)
    for (uint64_t flat_basis : layout.bases(space))
      bases[static_cast<unsigned>(space)].push_back(map(flat_basis));
  std::vector<Repeat> repeats = layout.repeats();
  for (Repeat &repeat : repeats)
    if (repeat.dim != Repeat::copies)
      repeat.dim = map_dimension(repeat.dim);
  return LinearLayout::from_flat_bases(shape, bases, std::move(repeats));
}

int same_dimension(int dimension) { return dimension; }

/// Reshapes keep the order of the dimensions with odd factors.
MapDimension by_odd_factors(const ir::Shape &from, const ir::Shape &to) {
  auto odd_dimensions = [](const ir::Shape &shape) {
    std::vector<int> result;
    for (size_t d = 0; d < shape.size(); ++d)
      if (Dimension::of(shape[d]).odd > 1)
        result.push_back(static_cast<int>(d));
    return result;
  };
  return [old = odd_dimensions(from), made = odd_dimensions(to)](int dimension) {
    return made[static_cast<size_t>(std::find(old.begin(), old.end(), dimension) - old.begin())];
  };
}

LinearLayout with_lowest_register(const LinearLayout &layout, const ir::Shape &shape) {
  LinearLayout shifted = map_bases(layout, shape, [](uint64_t c) { return c << 1; }, same_dimension);
  Columns bases = {shifted.bases(Space::Register), shifted.bases(Space::Lane), shifted.bases(Space::Wave)};
  bases[0].insert(bases[0].begin(), 1);
  return LinearLayout::from_flat_bases(shape, bases, layout.repeats());
}

unsigned bits_of(int64_t size) { return Dimension::of(size).bits; }

/// A flat column of `from`'s shape taken apart and put together for dimensions `order` of it.
uint64_t permute_flat(uint64_t flat_basis, const ir::Shape &from, const std::vector<int64_t> &order) {
  std::vector<uint64_t> coordinates(from.size());
  for (size_t d = from.size(); d-- > 0;) {
    coordinates[d] = flat_basis & ((uint64_t(1) << bits_of(from[d])) - 1);
    flat_basis >>= bits_of(from[d]);
  }
  uint64_t result = 0;
  for (int64_t d : order)
    result = result << bits_of(from[d]) | coordinates[d];
  return result;
}

std::vector<int64_t> inverse(const std::vector<int64_t> &order) {
  std::vector<int64_t> result(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    result[order[i]] = static_cast<int64_t>(i);
  return result;
}

/// The bits of the dimensions in which the operand has size 1 are dropped.
uint64_t broadcast_flat(uint64_t flat_basis, const ir::Shape &result, const ir::Shape &operand) {
  uint64_t kept = 0;
  unsigned at = 0;
  for (size_t d = result.size(); d-- > 0;) {
    unsigned bits = bits_of(result[d]);
    uint64_t coordinate = flat_basis & ((uint64_t(1) << bits) - 1);
    flat_basis >>= bits;
    if (operand[d] == result[d]) {
      kept |= coordinate << at;
      at += bits;
    }
  }
  return kept;
}

LinearLayout without_low_registers(const LinearLayout &layout, const ir::Shape &shape, unsigned low_bits) {
  Columns bases;
  for (Space space : all_spaces)
    for (uint64_t flat_basis : layout.bases(space))
      if (space != Space::Register || flat_basis >> low_bits != 0)
        bases[static_cast<unsigned>(space)].push_back(flat_basis >> low_bits);
  return LinearLayout::from_flat_bases(shape, bases, layout.repeats());
}

} // namespace

LinearLayout operand_layout(const ir::Function &function, const ir::Op &op, unsigned operand,
                            const LinearLayout &layout) {
  const ir::Shape &from = function.type(op.operands[operand]).shape;
  const ir::Shape &to = function.type(op.results[0]).shape;
  if (from.empty())
    return map_bases(layout, from, [](uint64_t) { return 0; }, [](int) { return Repeat::copies; });
  auto unchanged = [](uint64_t c) { return c; };
  switch (op.opcode) {
  case ir::Opcode::Broadcast:
    return map_bases(
        layout, from, [&](uint64_t c) { return broadcast_flat(c, to, from); },
        [&](int d) { return from[d] == to[d] ? d : Repeat::copies; });
  case ir::Opcode::ExpandDims: {
    auto axis = static_cast<int>(op.integer("axis"));
    return map_bases(layout, from, unchanged, [axis](int d) { return d > axis ? d - 1 : d; });
  }
  case ir::Opcode::Reshape:
    return map_bases(layout, from, unchanged, by_odd_factors(to, from));
  case ir::Opcode::Permute: {
    const std::vector<int64_t> &order = op.integers("order");
    std::vector<int64_t> back = inverse(order);
    return map_bases(
        layout, from, [&](uint64_t c) { return permute_flat(c, to, back); },
        [&](int d) { return static_cast<int>(order[d]); });
  }
  case ir::Opcode::Split:
    return with_lowest_register(layout, from);
  case ir::Opcode::Join:
    return map_bases(layout, from, [](uint64_t c) { return c >> 1; }, same_dimension);
  default:
    return layout;
  }
}

std::optional<LinearLayout> result_layout(const ir::Function &function, const ir::Op &op,
                                          const LinearLayout &layout) {
  const ir::Shape &from = function.type(op.operands[0]).shape;
  const ir::Shape &to = function.type(op.results[0]).shape;
  auto unchanged = [](uint64_t c) { return c; };
  switch (op.opcode) {
  case ir::Opcode::Broadcast:
    return std::nullopt;
  case ir::Opcode::ExpandDims: {
    auto axis = static_cast<int>(op.integer("axis"));
    return map_bases(layout, to, unchanged, [axis](int d) { return d >= axis ? d + 1 : d; });
  }
  case ir::Opcode::Reshape:
    return map_bases(layout, to, unchanged, by_odd_factors(from, to));
  case ir::Opcode::Permute: {
    const std::vector<int64_t> &order = op.integers("order");
    std::vector<int64_t> back = inverse(order);
    return map_bases(
        layout, to, [&](uint64_t c) { return permute_flat(c, from, order); },
        [&](int d) { return static_cast<int>(back[d]); });
  }
  case ir::Opcode::Split:
    return without_low_registers(layout, to, 1);
  case ir::Opcode::Join:
    return with_lowest_register(layout, to);
  default:
    return layout;
  }
}

std::optional<LinearLayout> quantize_operand_layout(const LinearLayout &codes, const ir::Shape &x) {
  const bool two_in_a_byte = codes.shape().back() < x.back();
  const std::vector<uint64_t> &registers = codes.bases(Space::Register);
  for (unsigned bit = 0; bit < (two_in_a_byte ? 4u : 5u); ++bit)
    if (std::find(registers.begin(), registers.end(), uint64_t(1) << bit) == registers.end())
      return std::nullopt;
  return two_in_a_byte ? with_lowest_register(codes, x) : codes;
}

LinearLayout quantize_codes_layout(const LinearLayout &x, const ir::Shape &codes) {
  const bool two_in_a_byte = codes.back() < x.shape().back();
  return two_in_a_byte ? without_low_registers(x, codes, 1) : x;
}

LinearLayout quantize_scales_layout(const LinearLayout &x, const ir::Shape &scales) {
  return without_low_registers(x, scales, 5);
}

std::optional<AxisBits> axis_bits(const LinearLayout &layout, unsigned axis) {
  uint64_t axis_mask = ((uint64_t(1) << layout.dim(axis).bits) - 1) << layout.first_bit(axis);
  AxisBits result;
  uint64_t seen = 0;
  for (Space space : all_spaces)
    for (unsigned bit = 0; bit < layout.bits(space); ++bit) {
      uint64_t flat_basis = layout.flat_basis(space, bit);
      if ((flat_basis & axis_mask) == 0)
        continue;
      if ((flat_basis & ~axis_mask) != 0 || (flat_basis & (flat_basis - 1)) != 0 || (seen & flat_basis) != 0)
        return std::nullopt;
      seen |= flat_basis;
      uint32_t &bits = space == Space::Register ? result.registers
                       : space == Space::Lane   ? result.lanes
                                                : result.waves;
      bits |= 1u << bit;
    }
  return result;
}

LinearLayout reduced_layout(const LinearLayout &layout, unsigned axis) {
  unsigned first = layout.first_bit(axis), bits = layout.dim(axis).bits;
  uint64_t low = (uint64_t(1) << first) - 1;
  uint64_t axis_mask = ((uint64_t(1) << bits) - 1) << first;
  ir::Shape shape = layout.shape();
  shape.erase(shape.begin() + axis);
  Columns bases;
  for (Space space : all_spaces)
    for (uint64_t flat_basis : layout.bases(space))
      if (space != Space::Register || (flat_basis & axis_mask) == 0)
        bases[static_cast<unsigned>(space)].push_back((flat_basis & low) |
                                                      (flat_basis >> (first + bits) << first));
  const int removed = static_cast<int>(axis);
  std::vector<Repeat> repeats;
  for (Repeat repeat : layout.repeats()) {
    if (repeat.dim == removed && repeat.owner == Space::Register)
      continue;
    if (repeat.dim == removed)
      repeat.dim = Repeat::copies;
    else if (repeat.dim > removed)
      --repeat.dim;
    repeats.push_back(repeat);
  }
  return LinearLayout::from_flat_bases(shape, bases, std::move(repeats));
}

std::vector<std::vector<uint32_t>> registers_along(const LinearLayout &layout, unsigned axis, uint32_t bits) {
  const unsigned own_bits = layout.bits(Space::Register);
  // The first register along the axis: its bits and digits there are 0.
  const auto head = [&](uint32_t reg) {
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
    rows[head(reg)].push_back(reg);
  std::vector<std::vector<uint32_t>> result;
  result.reserve(rows.size());
  for (auto &[first, row] : rows)
    result.push_back(std::move(row));
  return result;
}

} // namespace nereid::codegen
