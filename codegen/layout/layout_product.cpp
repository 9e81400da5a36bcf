#include "codegen/layout/layout_error.h"
#include "codegen/layout/linear_layout.h"

namespace nereid::codegen {

namespace {

unsigned space_index(Space space) { return static_cast<unsigned>(space); }

} // namespace

LinearLayout operator*(const LinearLayout &inner, const LinearLayout &outer) {
  require_layout(inner.rank() == outer.rank(), "the ranks of the factors differ");
  const unsigned rank = inner.rank();
  ir::Shape shape;
  for (unsigned d = 0; d < rank; ++d)
    shape.push_back(inner.dim(d).size() * outer.dim(d).size());
  std::vector<Dimension> dims;
  for (int64_t size : shape)
    dims.push_back(Dimension::of(size));

  auto embed = [&](const Coordinates &basis, bool above) {
    uint64_t flat = 0;
    for (unsigned d = 0; d < rank; ++d)
      flat = flat << dims[d].bits | uint64_t(basis[d]) << (above ? inner.dim(d).bits : 0);
    return flat;
  };
  std::array<std::vector<uint64_t>, 3> bases;
  for (Space space : all_spaces) {
    for (unsigned i = 0; i < inner.bits(space); ++i)
      bases[space_index(space)].push_back(embed(inner.basis(space, i), false));
    for (unsigned i = 0; i < outer.bits(space); ++i)
      bases[space_index(space)].push_back(embed(outer.basis(space, i), true));
  }
  std::vector<Repeat> repeats = inner.repeats();
  repeats.insert(repeats.end(), outer.repeats().begin(), outer.repeats().end());
  return LinearLayout::from_flat_bases(shape, std::move(bases), std::move(repeats));
}

std::optional<LinearLayout> divide_left(const LinearLayout &layout, const LinearLayout &inner) {
  if (layout.rank() != inner.rank() || layout.repeats().size() < inner.repeats().size())
    return std::nullopt;
  ir::Shape shape;
  for (unsigned d = 0; d < layout.rank(); ++d) {
    if (layout.dim(d).size() % inner.dim(d).size() != 0)
      return std::nullopt;
    shape.push_back(layout.dim(d).size() / inner.dim(d).size());
  }
  std::array<std::vector<uint64_t>, 3> bases;
  for (Space space : all_spaces) {
    if (layout.bits(space) < inner.bits(space))
      return std::nullopt;
    for (unsigned i = inner.bits(space); i < layout.bits(space); ++i) {
      const Coordinates basis = layout.basis(space, i);
      uint64_t flat = 0;
      for (unsigned d = 0; d < layout.rank(); ++d)
        flat = flat << Dimension::of(shape[d]).bits | basis[d] >> inner.dim(d).bits;
      bases[space_index(space)].push_back(flat);
    }
  }
  const auto &repeats = layout.repeats();
  std::vector<Repeat> rest(repeats.begin() + inner.repeats().size(), repeats.end());
  for (unsigned d = 0; d < layout.rank(); ++d) {
    uint32_t odd = 1;
    for (const Repeat &repeat : rest)
      if (repeat.dim == static_cast<int>(d))
        odd *= repeat.count;
    if (odd != Dimension::of(shape[d]).odd)
      return std::nullopt;
  }
  LinearLayout quotient = LinearLayout::from_flat_bases(shape, std::move(bases), std::move(rest));
  if (inner * quotient != layout)
    return std::nullopt;
  return quotient;
}

LinearLayout concat_dimensions(const LinearLayout &a, const LinearLayout &b) {
  ir::Shape shape = a.shape();
  for (int64_t size : b.shape())
    shape.push_back(size);
  std::array<std::vector<uint64_t>, 3> bases;
  for (Space space : all_spaces) {
    require_layout(a.bits(space) == b.bits(space), "the positions of two tiles differ");
    for (unsigned i = 0; i < a.bits(space); ++i)
      bases[space_index(space)].push_back(a.flat_basis(space, i) << b.coordinate_bits() |
                                          b.flat_basis(space, i));
  }
  require_layout(a.repeats().size() == b.repeats().size(), "the repeats of two tiles differ");
  std::vector<Repeat> repeats = a.repeats();
  for (size_t i = 0; i < repeats.size(); ++i) {
    const Repeat &other = b.repeats()[i];
    require_layout(repeats[i].owner == other.owner && repeats[i].count == other.count &&
                       (repeats[i].dim == Repeat::copies || other.dim == Repeat::copies),
                   "the repeats of two tiles differ");
    if (other.dim != Repeat::copies)
      repeats[i].dim = static_cast<int>(a.rank()) + other.dim;
  }
  return LinearLayout::from_flat_bases(shape, std::move(bases), std::move(repeats));
}

Result<OwnerMap> OwnerMap::of(const LinearLayout &layout) {
  std::optional<BitMatrix> inverse = layout.matrix().right_inverse();
  if (!inverse)
    return nereid_error("the layout " + layout.text() + " does not hold every element of its tile");
  return OwnerMap(layout, std::move(*inverse));
}

Position OwnerMap::at(const Coordinates &coordinates) const {
  uint64_t bits = matrix_.apply(layout_.flatten(coordinates));
  uint32_t numbers[3];
  uint32_t stride[3];
  for (Space space : all_spaces) {
    const unsigned count = layout_.bits(space);
    numbers[space_index(space)] = static_cast<uint32_t>(bits & ((uint64_t(1) << count) - 1));
    stride[space_index(space)] = 1u << count;
    bits >>= count;
  }
  std::vector<uint32_t> odd;
  odd.reserve(layout_.rank());
  for (unsigned d = 0; d < layout_.rank(); ++d)
    odd.push_back(coordinates[d] >> layout_.dim(d).bits);
  for (const Repeat &repeat : layout_.repeats()) {
    const unsigned s = space_index(repeat.owner);
    if (repeat.dim != Repeat::copies) {
      numbers[s] += odd[repeat.dim] % repeat.count * stride[s];
      odd[repeat.dim] /= repeat.count;
    }
    stride[s] *= repeat.count;
  }
  return {numbers[0], numbers[1], numbers[2]};
}

} // namespace nereid::codegen
