// The layout itself: construction, the map from positions to coordinates, its properties, its text.
#include "codegen/layout/linear_layout.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "codegen/layout/bits.h"
#include "codegen/layout/layout_error.h"

namespace nereid::codegen {

namespace {

uint32_t odd_part(uint64_t n) { return static_cast<uint32_t>(n >> std::countr_zero(n)); }

} // namespace

const char *space_name(Space space) {
  static constexpr const char *names[] = {"register", "lane", "wave"};
  return names[static_cast<unsigned>(space)];
}

Dimension Dimension::of(int64_t size) {
  require_layout(size > 0, "a dimension has no elements");
  return {static_cast<unsigned>(std::countr_zero(static_cast<uint64_t>(size))),
          odd_part(static_cast<uint64_t>(size))};
}

LinearLayout LinearLayout::identity1d(Space space, unsigned rank, unsigned dim, int64_t size) {
  require_layout(dim < rank, "a tile lacks the dimension");
  const Dimension dimension = Dimension::of(size);
  ir::Shape shape(rank, 1);
  shape[dim] = size;
  Bases bases;
  bases[index(space)] = BitMatrix::identity(dimension.bits).columns();
  std::vector<Repeat> repeats;
  if (dimension.odd > 1)
    repeats.push_back({space, dimension.odd, static_cast<int>(dim)});
  return from_flat_bases(shape, std::move(bases), std::move(repeats));
}

LinearLayout LinearLayout::zeros1d(Space space, unsigned rank, int64_t count) {
  const Dimension broadcasts = Dimension::of(count);
  Bases bases;
  bases[index(space)].assign(broadcasts.bits, 0);
  std::vector<Repeat> repeats;
  if (broadcasts.odd > 1)
    repeats.push_back({space, broadcasts.odd, Repeat::broadcast});
  return from_flat_bases(ir::Shape(rank, 1), std::move(bases), std::move(repeats));
}

LinearLayout LinearLayout::from_flat_bases(const ir::Shape &shape, Bases bases, std::vector<Repeat> repeats) {
  LinearLayout layout;
  for (int64_t size : shape)
    layout.dims_.push_back(Dimension::of(size));
  layout.bases_ = std::move(bases);
  layout.repeats_ = std::move(repeats);
  const unsigned bits = layout.coordinate_bits();
  require_layout(bits <= 64, "a tile has more than 64 bits of coordinates");
  for (const auto &space : layout.bases_)
    for (uint64_t basis : space)
      require_layout((basis & ~low_mask(bits)) == 0, "a basis leaves the tile");
  for (size_t d = 0; d < shape.size(); ++d) {
    uint32_t odd = 1;
    for (const Repeat &repeat : layout.repeats_) {
      require_layout(repeat.owner != Space::Lane && repeat.count > 1 && repeat.count % 2 == 1,
                     "a repeat is not an odd factor of registers or waves");
      if (repeat.dim == static_cast<int>(d))
        odd *= repeat.count;
    }
    require_layout(odd == layout.dims_[d].odd, "repeats do not give a dimension its odd factor");
  }
  return layout;
}

LinearLayout LinearLayout::blocked(const ir::Shape &shape, const std::vector<uint32_t> &elements,
                                   const std::vector<uint32_t> &lanes, const std::vector<uint32_t> &waves,
                                   const std::vector<unsigned> &order) {
  const size_t rank = shape.size();
  require_layout(elements.size() == rank && lanes.size() == rank && waves.size() == rank &&
                     order.size() == rank,
                 "the ranks of a tile and of its blocks differ");
  std::vector<Dimension> dims;
  std::vector<unsigned> first_bit(rank), used(rank, 0);
  for (int64_t size : shape)
    dims.push_back(Dimension::of(size));
  for (size_t d = rank, bit = 0; d-- > 0; bit += dims[d].bits)
    first_bit[d] = static_cast<unsigned>(bit);
  Bases bases;
  auto fill = [&](Space space, unsigned d, unsigned bits) {
    for (unsigned i = 0; i < bits; ++i)
      if (used[d] < dims[d].bits)
        bases[index(space)].push_back(uint64_t(1) << (first_bit[d] + used[d]++));
      else if (space != Space::Register)
        bases[index(space)].push_back(0);
  };
  for (unsigned d : order) {
    require_layout(std::has_single_bit(elements[d]), "a block's elements are no power of two");
    fill(Space::Register, d, std::countr_zero(elements[d]));
  }
  for (unsigned d : order) {
    require_layout(std::has_single_bit(lanes[d]), "a block's lanes are no power of two");
    fill(Space::Lane, d, std::countr_zero(lanes[d]));
  }
  std::vector<Repeat> repeats;
  std::vector<uint32_t> odd_left(rank);
  for (unsigned d : order) {
    fill(Space::Wave, d, std::countr_zero(waves[d]));
    const uint32_t odd_waves = odd_part(waves[d]);
    const bool walks = dims[d].odd % odd_waves == 0;
    odd_left[d] = walks ? dims[d].odd / odd_waves : dims[d].odd;
    if (odd_waves > 1)
      repeats.push_back({Space::Wave, odd_waves, walks ? static_cast<int>(d) : Repeat::broadcast});
  }
  for (unsigned d : order) {
    fill(Space::Register, d, dims[d].bits);
    if (odd_left[d] > 1)
      repeats.push_back({Space::Register, odd_left[d], static_cast<int>(d)});
  }
  return from_flat_bases(shape, std::move(bases), std::move(repeats));
}

ir::Shape LinearLayout::shape() const {
  ir::Shape shape;
  for (const Dimension &dim : dims_)
    shape.push_back(dim.size());
  return shape;
}

unsigned LinearLayout::coordinate_bits() const {
  unsigned bits = 0;
  for (const Dimension &dim : dims_)
    bits += dim.bits;
  return bits;
}

unsigned LinearLayout::first_bit(unsigned d) const {
  unsigned bit = 0;
  for (unsigned i = d + 1; i < rank(); ++i)
    bit += dims_[i].bits;
  return bit;
}

uint32_t LinearLayout::odd(Space space) const {
  uint32_t odd = 1;
  for (const Repeat &repeat : repeats_)
    if (repeat.owner == space)
      odd *= repeat.count;
  return odd;
}

BitMatrix LinearLayout::matrix() const {
  std::vector<uint64_t> all;
  for (const auto &space : bases_)
    all.insert(all.end(), space.begin(), space.end());
  return BitMatrix(coordinate_bits(), std::move(all));
}

Coordinates LinearLayout::apply(Position position) const {
  const uint32_t numbers[] = {position.reg, position.lane, position.wave};
  uint64_t flat = 0;
  uint32_t above[3];
  for (unsigned s = 0; s < 3; ++s) {
    require_layout(numbers[s] < size(all_spaces[s]), "there is no such position");
    for (unsigned i = 0; i < bases_[s].size(); ++i)
      if (numbers[s] >> i & 1)
        flat ^= bases_[s][i];
    above[s] = numbers[s] >> bases_[s].size();
  }
  Coordinates coordinates = unflatten(flat);
  std::vector<uint32_t> stride(rank(), 1);
  for (const Repeat &repeat : repeats_) {
    uint32_t &rest = above[index(repeat.owner)];
    const uint32_t digit = rest % repeat.count;
    rest /= repeat.count;
    if (repeat.dim == Repeat::broadcast)
      continue;
    coordinates[repeat.dim] += digit * stride[repeat.dim] << dims_[repeat.dim].bits;
    stride[repeat.dim] *= repeat.count;
  }
  return coordinates;
}

Coordinates LinearLayout::unflatten(uint64_t flat) const {
  Coordinates coordinates(rank());
  for (unsigned d = rank(); d-- > 0;) {
    coordinates[d] = static_cast<uint32_t>(flat & low_mask(dims_[d].bits));
    flat >>= dims_[d].bits;
  }
  return coordinates;
}

bool LinearLayout::is_surjective() const { return matrix().rank() == coordinate_bits(); }

uint64_t LinearLayout::free_mask(Space space) const {
  uint64_t dependent = matrix().dependent_columns();
  for (unsigned s = 0; s < index(space); ++s)
    dependent >>= bases_[s].size();
  return dependent & low_mask(bits(space));
}

uint64_t LinearLayout::free_mask_within(Space space) const {
  return BitMatrix(coordinate_bits(), bases_[index(space)]).dependent_columns();
}

static bool broadcasts_registers(const Repeat &repeat) {
  return repeat.owner == Space::Register && repeat.dim == Repeat::broadcast;
}

bool LinearLayout::has_register_broadcast() const {
  return free_mask_within(Space::Register) != 0 ||
         std::any_of(repeats_.begin(), repeats_.end(), broadcasts_registers);
}

unsigned LinearLayout::contiguous_registers(unsigned dim) const {
  const auto &registers = bases_[index(Space::Register)];
  const unsigned shift = first_bit(dim);
  unsigned count = 0;
  while (count < registers.size() && count < dims_[dim].bits &&
         registers[count] == uint64_t(1) << (shift + count))
    ++count;
  auto touches = [&](uint64_t basis) { return (basis >> shift & low_mask(count)) != 0; };
  for (unsigned s = 0; s < 3; ++s)
    for (unsigned i = 0; i < bases_[s].size(); ++i)
      while (touches(bases_[s][i]) && !(s == 0 && i < count))
        --count;
  return count;
}

LinearLayout LinearLayout::without(Space space) const {
  LinearLayout result = *this;
  result.bases_[index(space)].clear();
  result.repeats_.clear();
  for (const Repeat &repeat : repeats_)
    if (repeat.owner != space)
      result.repeats_.push_back(repeat);
    else if (repeat.dim != Repeat::broadcast)
      result.dims_[repeat.dim].odd /= repeat.count;
  return result;
}

LinearLayout LinearLayout::permute_registers(const std::vector<unsigned> &order) const {
  require_layout(order.size() == bits(Space::Register), "an order of registers lacks some");
  LinearLayout result = *this;
  for (unsigned i = 0; i < order.size(); ++i)
    result.bases_[0][i] = bases_[0][order[i]];
  return result;
}

LinearLayout LinearLayout::without_registers(uint64_t mask) const {
  LinearLayout result = *this;
  auto &registers = result.bases_[index(Space::Register)];
  registers.clear();
  for (unsigned i = 0; i < bits(Space::Register); ++i)
    if (!(mask >> i & 1))
      registers.push_back(flat_basis(Space::Register, i));
  return result;
}

LinearLayout LinearLayout::without_register_broadcast() const {
  LinearLayout result = without_registers(free_mask_within(Space::Register));
  std::erase_if(result.repeats_, broadcasts_registers);
  return result;
}

LinearLayout LinearLayout::move_register(unsigned register_bit, Space space, unsigned bit) const {
  require_layout(space != Space::Register && flat_basis(space, bit) == 0,
                 "a register is moved to a lane or wave that holds something else");
  LinearLayout result = without_registers(uint64_t(1) << register_bit);
  result.bases_[index(space)][bit] = flat_basis(Space::Register, register_bit);
  return result;
}

std::string LinearLayout::text() const {
  std::string text = ir::text(shape());
  for (Space space : all_spaces) {
    if (bits(space) == 0)
      continue;
    text += fmt::format(" {}:", space_name(space));
    for (unsigned i = 0; i < bits(space); ++i)
      if (flat_basis(space, i) == 0)
        text += " 0";
      else
        text += fmt::format(" ({})", fmt::join(basis(space, i), ","));
  }
  for (const Repeat &repeat : repeats_)
    if (repeat.dim == Repeat::broadcast)
      text += fmt::format("; {} x{} broadcast", space_name(repeat.owner), repeat.count);
    else
      text += fmt::format("; {} x{} along {}", space_name(repeat.owner), repeat.count, repeat.dim);
  return text;
}

} // namespace nereid::codegen
