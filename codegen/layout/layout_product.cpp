// The product of layouts and its left quotient.
#include "codegen/layout/bits.h"
#include "codegen/layout/layout_error.h"
#include "codegen/layout/linear_layout.h"

namespace nereid::codegen {

namespace {

unsigned space_index(Space space) { return static_cast<unsigned>(space); }

/// A factor's flat basis in the product with `other`, above or below the bits of `other` in each dimension.
uint64_t into_product(uint64_t basis, const LinearLayout &factor, const LinearLayout &other, bool is_outer) {
  uint64_t result = 0;
  unsigned at = 0;
  for (unsigned d = factor.rank(); d-- > 0;) {
    const unsigned own = factor.dim(d).bits, others = other.dim(d).bits;
    result |= (basis & low_mask(own)) << (at + (is_outer ? others : 0));
    basis >>= own;
    at += own + others;
  }
  return result;
}

/// The part of a product's flat basis that lies above the bits of `inner` in each dimension.
uint64_t above_inner(uint64_t basis, const LinearLayout &product, const LinearLayout &inner) {
  uint64_t result = 0;
  unsigned at = 0;
  for (unsigned d = product.rank(); d-- > 0;) {
    const unsigned bits = product.dim(d).bits, below = inner.dim(d).bits;
    result |= (basis & low_mask(bits)) >> below << at;
    basis >>= bits;
    at += bits - below;
  }
  return result;
}

} // namespace

LinearLayout operator*(const LinearLayout &inner, const LinearLayout &outer) {
  require_layout(inner.rank() == outer.rank(), "the ranks of the factors differ");
  ir::Shape shape;
  for (unsigned d = 0; d < inner.rank(); ++d)
    shape.push_back(inner.dim(d).size() * outer.dim(d).size());
  Bases bases;
  for (Space space : all_spaces) {
    for (uint64_t basis : inner.bases(space))
      bases[space_index(space)].push_back(into_product(basis, inner, outer, false));
    for (uint64_t basis : outer.bases(space))
      bases[space_index(space)].push_back(into_product(basis, outer, inner, true));
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
  Bases bases;
  for (Space space : all_spaces) {
    if (layout.bits(space) < inner.bits(space))
      return std::nullopt;
    for (unsigned i = inner.bits(space); i < layout.bits(space); ++i)
      bases[space_index(space)].push_back(above_inner(layout.flat_basis(space, i), layout, inner));
  }
  std::vector<Repeat> rest(layout.repeats().begin() + inner.repeats().size(), layout.repeats().end());
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

} // namespace nereid::codegen
