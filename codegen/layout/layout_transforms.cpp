#include "codegen/layout/layout_transforms.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "codegen/layout/layout_error.h"

namespace nereid::codegen {

namespace {

using MapCoordinates = std::function<Coordinates(const Coordinates &)>;

/// The layout with another shape: each column through `map`, each repeat's dimension through `dims`.
LinearLayout remap(const LinearLayout &layout, const ir::Shape &shape, const MapCoordinates &map,
                   const std::function<int(int)> &map_dim) {
  std::array<std::vector<uint64_t>, 3> bases;
  for (Space space : all_spaces)
    for (unsigned i = 0; i < layout.bits(space); ++i) {
      const Coordinates basis = map(layout.basis(space, i));
      uint64_t flat = 0;
      for (size_t d = 0; d < shape.size(); ++d)
        flat = flat << Dimension::of(shape[d]).bits | basis[d];
      bases[static_cast<unsigned>(space)].push_back(flat);
    }
  std::vector<Repeat> repeats = layout.repeats();
  for (Repeat &repeat : repeats)
    if (repeat.dim != Repeat::copies)
      repeat.dim = map_dim(repeat.dim);
  return LinearLayout::from_flat_bases(shape, std::move(bases), std::move(repeats));
}

/// The axis has size 1, every bit kept.
LinearLayout project(const LinearLayout &layout, unsigned axis) {
  ir::Shape shape = layout.shape();
  shape[axis] = 1;
  return remap(
      layout, shape,
      [&](Coordinates c) {
        c[axis] = 0;
        return c;
      },
      [&](int d) { return d == static_cast<int>(axis) ? Repeat::copies : d; });
}

/// The odd factors of a shape from the major end, each with its dimension and the number of coordinate bits
/// between it and the next one; the first entry (odd 1) holds the bits before the first odd factor.
struct OddFactor {
  uint32_t odd;
  unsigned bits_below;
  int dim;
};

std::vector<OddFactor> odd_factors(const ir::Shape &shape) {
  std::vector<OddFactor> factors = {{1, 0, 0}};
  for (size_t d = 0; d < shape.size(); ++d) {
    const Dimension dim = Dimension::of(shape[d]);
    if (dim.odd > 1)
      factors.push_back({dim.odd, 0, static_cast<int>(d)});
    factors.back().bits_below += dim.bits;
  }
  return factors;
}

int64_t count(const ir::Shape &shape) {
  int64_t n = 1;
  for (int64_t size : shape)
    n *= size;
  return n;
}

} // namespace

Result<LinearLayout> reshape(const LinearLayout &layout, const ir::Shape &shape) {
  const ir::Shape from = layout.shape();
  if (count(from) != count(shape))
    return user_error(fmt::format("cannot reshape {} to {}: the numbers of elements differ", ir::text(from),
                                  ir::text(shape)));
  const std::vector<OddFactor> old_factors = odd_factors(from), new_factors = odd_factors(shape);
  for (size_t i = 0; i < old_factors.size(); ++i) {
    const bool same = i < new_factors.size() && old_factors[i].odd == new_factors[i].odd &&
                      old_factors[i].bits_below == new_factors[i].bits_below;
    if (same)
      continue;
    // A wrong count of bits before the first odd factor is that factor's standing in the way.
    const OddFactor &wrong = old_factors[old_factors[i].odd == 1 ? i + 1 : i];
    return user_error(
        fmt::format("cannot reshape {} to {}: the odd factor {} of dimension {} is in the way",
                    ir::text(from), ir::text(shape), wrong.odd, wrong.dim),
        "an odd factor stays outermost in its dimension: reshape the power of two below it only");
  }
  std::vector<Repeat> repeats = layout.repeats();
  for (Repeat &repeat : repeats)
    for (size_t i = 1; i < old_factors.size(); ++i)
      if (repeat.dim == old_factors[i].dim) {
        repeat.dim = new_factors[i].dim;
        break;
      }
  return LinearLayout::from_flat_bases(
      shape, {layout.bases(Space::Register), layout.bases(Space::Lane), layout.bases(Space::Wave)},
      std::move(repeats));
}

Result<LinearLayout> flatten(const LinearLayout &layout) { return reshape(layout, {count(layout.shape())}); }

LinearLayout permute(const LinearLayout &layout, const std::vector<unsigned> &order) {
  require_layout(order.size() == layout.rank(), "an order of dimensions lacks some");
  ir::Shape shape;
  for (unsigned d : order)
    shape.push_back(layout.dim(d).size());
  return remap(
      layout, shape,
      [&](const Coordinates &c) {
        Coordinates result;
        for (unsigned d : order)
          result.push_back(c[d]);
        return result;
      },
      [&](int d) {
        return static_cast<int>(std::find(order.begin(), order.end(), static_cast<unsigned>(d)) -
                                order.begin());
      });
}

LinearLayout permute_operand(const LinearLayout &layout, const std::vector<unsigned> &order) {
  std::vector<unsigned> inverse(order.size());
  for (unsigned i = 0; i < order.size(); ++i)
    inverse[order[i]] = i;
  return permute(layout, inverse);
}

LinearLayout expand_dims(const LinearLayout &layout, unsigned axis) {
  require_layout(axis <= layout.rank(), "a tile lacks the dimension");
  ir::Shape shape = layout.shape();
  shape.insert(shape.begin() + axis, 1);
  return remap(
      layout, shape,
      [&](Coordinates c) {
        c.insert(c.begin() + axis, 0);
        return c;
      },
      [&](int d) { return d >= static_cast<int>(axis) ? d + 1 : d; });
}

LinearLayout squeeze(const LinearLayout &layout, unsigned axis) {
  require_layout(axis < layout.rank() && layout.dim(axis).size() == 1, "the dimension is not 1");
  return slice(layout, axis);
}

LinearLayout broadcast(const LinearLayout &layout, unsigned axis, int64_t size, RegisterEnd end) {
  require_layout(axis < layout.rank() && layout.dim(axis).size() == 1, "the dimension is not 1");
  const LinearLayout added = LinearLayout::identity1d(Space::Register, layout.rank(), axis, size);
  return end == RegisterEnd::Low ? added * layout : layout * added;
}

LinearLayout broadcast_operand(const LinearLayout &layout, unsigned axis) {
  return project(layout, axis).without_register_broadcast();
}

LinearLayout broadcast_operand(const LinearLayout &layout, const ir::Shape &operand) {
  require_layout(operand.size() == layout.rank(), "the ranks of a tile and its broadcast differ");
  LinearLayout result = layout;
  for (unsigned d = 0; d < layout.rank(); ++d) {
    require_layout(operand[d] == 1 || operand[d] == layout.dim(d).size(),
                   "a dimension that is not 1 is broadcast");
    if (operand[d] != layout.dim(d).size())
      result = broadcast_operand(result, d);
  }
  return result;
}

LinearLayout slice(const LinearLayout &layout, unsigned axis) {
  std::vector<unsigned> kept;
  for (unsigned d = 0; d < layout.rank(); ++d)
    if (d != axis)
      kept.push_back(d);
  return sub_layout(layout, kept);
}

LinearLayout reduce(const LinearLayout &layout, unsigned axis) {
  return slice(layout, axis).without_register_broadcast();
}

LinearLayout reduce_operand(const LinearLayout &layout, unsigned axis, int64_t size, RegisterEnd end) {
  return broadcast(expand_dims(layout, axis), axis, size, end);
}

LinearLayout split(const LinearLayout &layout) {
  require_layout(layout.rank() > 0 && layout.dim(layout.rank() - 1).size() == 2,
                 "the last dimension is not 2");
  return reduce(layout, layout.rank() - 1);
}

LinearLayout split_operand(const LinearLayout &layout) { return join(layout); }

bool split_is_free(const LinearLayout &layout) {
  const BitMatrix registers(layout.coordinate_bits(), layout.bases(Space::Register));
  auto on_axis = [](uint64_t flat_basis) { return (flat_basis & 1) != 0; };
  const auto &lanes = layout.bases(Space::Lane), &waves = layout.bases(Space::Wave);
  return registers.solve(1).has_value() && std::none_of(lanes.begin(), lanes.end(), on_axis) &&
         std::none_of(waves.begin(), waves.end(), on_axis);
}

LinearLayout join(const LinearLayout &layout) { return reduce_operand(layout, layout.rank(), 2); }

LinearLayout join_operand(const LinearLayout &layout) { return split(layout); }

LinearLayout sub_layout(const LinearLayout &layout, const std::vector<unsigned> &dims) {
  ir::Shape shape;
  for (unsigned d : dims)
    shape.push_back(layout.dim(d).size());
  return remap(
      layout, shape,
      [&](const Coordinates &c) {
        Coordinates result;
        for (unsigned d : dims)
          result.push_back(c[d]);
        return result;
      },
      [&](int d) {
        auto at = std::find(dims.begin(), dims.end(), static_cast<unsigned>(d));
        return at == dims.end() ? Repeat::copies : static_cast<int>(at - dims.begin());
      });
}

} // namespace nereid::codegen
