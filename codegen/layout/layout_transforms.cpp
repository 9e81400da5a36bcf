// Layouts through shape operations. All but reshape select dimensions; a reshape leaves flat bases alone.
#include "codegen/layout/layout_transforms.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "codegen/layout/bits.h"
#include "codegen/layout/layout_error.h"

namespace nereid::codegen {

namespace {

constexpr int no_dimension = -1;

/// The tile of `shape` whose dimension i is dimension `source[i]` of the layout's tile, or its lowest bits;
/// where that is `no_dimension`, it has size 1.
LinearLayout select_dimensions(const LinearLayout &layout, const std::vector<int> &source,
                               const ir::Shape &shape) {
  const auto select = [&](uint64_t basis) {
    uint64_t result = 0;
    for (size_t i = 0; i < source.size(); ++i) {
      const unsigned bits = Dimension::of(shape[i]).bits;
      result <<= bits;
      if (source[i] != no_dimension)
        result |= basis >> layout.first_bit(source[i]) & low_mask(bits);
    }
    return result;
  };
  Bases bases = layout.bases();
  for (std::vector<uint64_t> &space : bases)
    std::transform(space.begin(), space.end(), space.begin(), select);
  std::vector<Repeat> repeats = layout.repeats();
  for (Repeat &repeat : repeats)
    if (repeat.dim != Repeat::broadcast) {
      const auto at = std::find(source.begin(), source.end(), repeat.dim);
      repeat.dim = at == source.end() ? Repeat::broadcast : static_cast<int>(at - source.begin());
    }
  return LinearLayout::from_flat_bases(shape, std::move(bases), std::move(repeats));
}

/// As above, of whole dimensions.
LinearLayout select_dimensions(const LinearLayout &layout, const std::vector<int> &source) {
  ir::Shape shape;
  for (int d : source)
    shape.push_back(d == no_dimension ? 1 : layout.dim(d).size());
  return select_dimensions(layout, source, shape);
}

std::vector<int> all_dimensions(const LinearLayout &layout) {
  std::vector<int> source(layout.rank());
  std::iota(source.begin(), source.end(), 0);
  return source;
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
  return std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>());
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
  return LinearLayout::from_flat_bases(shape, layout.bases(), std::move(repeats));
}

LinearLayout permute(const LinearLayout &layout, const std::vector<int64_t> &order) {
  require_layout(order.size() == layout.rank(), "an order of dimensions lacks some");
  return select_dimensions(layout, std::vector<int>(order.begin(), order.end()));
}

LinearLayout permute_operand(const LinearLayout &layout, const std::vector<int64_t> &order) {
  std::vector<int64_t> inverse(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    inverse[order[i]] = static_cast<int64_t>(i);
  return permute(layout, inverse);
}

LinearLayout expand_dims(const LinearLayout &layout, unsigned axis) {
  require_layout(axis <= layout.rank(), "a tile lacks the dimension");
  std::vector<int> source = all_dimensions(layout);
  source.insert(source.begin() + axis, no_dimension);
  return select_dimensions(layout, source);
}

LinearLayout squeeze(const LinearLayout &layout, unsigned axis) {
  require_layout(axis < layout.rank() && layout.dim(axis).size() == 1, "the dimension is not 1");
  return slice(layout, axis);
}

LinearLayout broadcast_operand(const LinearLayout &layout, const ir::Shape &operand) {
  require_layout(operand.size() == layout.rank(), "the ranks of a tile and its broadcast differ");
  std::vector<int> source = all_dimensions(layout);
  for (unsigned d = 0; d < layout.rank(); ++d)
    if (operand[d] != layout.dim(d).size()) {
      require_layout(operand[d] == 1, "a dimension that is not 1 is broadcast");
      source[d] = no_dimension;
    }
  return select_dimensions(layout, source);
}

LinearLayout sub_layout(const LinearLayout &layout, const std::vector<unsigned> &dims) {
  return select_dimensions(layout, std::vector<int>(dims.begin(), dims.end()));
}

LinearLayout slice(const LinearLayout &layout, unsigned axis) {
  std::vector<int> source = all_dimensions(layout);
  source.erase(source.begin() + axis);
  return select_dimensions(layout, source);
}

LinearLayout reduce(const LinearLayout &layout, unsigned axis) {
  return slice(layout, axis).without_register_broadcast();
}

LinearLayout reduce_operand(const LinearLayout &layout, unsigned axis, int64_t size) {
  return LinearLayout::identity1d(Space::Register, layout.rank() + 1, axis, size) * expand_dims(layout, axis);
}

LinearLayout join(const LinearLayout &layout) { return reduce_operand(layout, layout.rank(), 2); }

LinearLayout crop(const LinearLayout &layout, const ir::Shape &shape) {
  require_layout(shape.size() == layout.rank(), "the ranks of a tile and of its part differ");
  ir::Shape cropped;
  for (unsigned d = 0; d < layout.rank(); ++d) {
    const Dimension dim = layout.dim(d);
    cropped.push_back(Dimension{std::min(dim.bits, Dimension::of(shape[d]).bits), dim.odd}.size());
  }
  return select_dimensions(layout, all_dimensions(layout), cropped).without_register_broadcast();
}

} // namespace nereid::codegen
