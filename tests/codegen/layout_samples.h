#pragma once

#include <algorithm>
#include <random>
#include <utility>

#include "codegen/layout/linear_layout.h"

namespace nereid::codegen::samples {

/// A layout from the coordinates that each bit flips, bit 0 first.
inline LinearLayout from_bases(const ir::Shape &shape, const std::vector<Coordinates> &registers,
                               const std::vector<Coordinates> &lanes, const std::vector<Coordinates> &waves) {
  const std::vector<Coordinates> *spaces[] = {&registers, &lanes, &waves};
  Bases bases;
  for (size_t s = 0; s < bases.size(); ++s)
    for (const Coordinates &basis : *spaces[s]) {
      uint64_t flat = 0;
      for (size_t d = 0; d < shape.size(); ++d)
        flat = flat << Dimension::of(shape[d]).bits | basis[d];
      bases[s].push_back(flat);
    }
  return LinearLayout::from_flat_bases(shape, std::move(bases));
}

/// Positions composed with `inner`: new position bits, split into the spaces by `bits`, -> old ones.
inline LinearLayout map_positions(const LinearLayout &layout, const BitMatrix &inner,
                                  const std::array<unsigned, 3> &bits) {
  const BitMatrix product = layout.matrix() * inner;
  Bases bases;
  auto from = product.columns().begin();
  for (size_t s = 0; s < bases.size(); from += bits[s++])
    bases[s].assign(from, from + bits[s]);
  return LinearLayout::from_flat_bases(layout.shape(), std::move(bases), layout.repeats());
}

/// No element is held twice.
inline bool is_injective(const LinearLayout &layout) {
  return layout.matrix().dependent_columns() == 0 &&
         std::none_of(layout.repeats().begin(), layout.repeats().end(),
                      [](const Repeat &repeat) { return repeat.dim == Repeat::broadcast; });
}

inline bool is_bijective(const LinearLayout &layout) {
  return layout.is_surjective() && is_injective(layout);
}

/// Seeded random layouts over small shapes.
class RandomLayouts {
public:
  explicit RandomLayouts(uint32_t seed) : random_(seed) {}

  uint32_t below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }

  BitMatrix invertible(unsigned size) {
    for (;;) {
      std::vector<uint64_t> bases(size);
      for (uint64_t &basis : bases)
        basis = random_() & ((uint64_t(1) << size) - 1);
      BitMatrix matrix(size, bases);
      if (matrix.rank() == size)
        return matrix;
    }
  }

  /// A shape of the given rank whose dimensions have `bits` bits in all and, if `odd`, some odd factors.
  ir::Shape shape(unsigned rank, unsigned bits, bool odd) {
    ir::Shape shape(rank, 1);
    for (unsigned i = 0; i < bits; ++i)
      shape[below(rank)] *= 2;
    if (odd)
      for (int64_t &size : shape)
        size *= std::array{1, 3, 5}[below(3)];
    return shape;
  }

  /// A random layout of `shape`: `broadcasts` position bits have bases that depend on the others', the odd
  /// factors go to registers or waves.
  LinearLayout layout(const ir::Shape &shape, unsigned lane_bits, unsigned wave_bits, unsigned broadcasts) {
    unsigned bits = 0;
    std::vector<Repeat> repeats;
    for (unsigned d = 0; d < shape.size(); ++d) {
      const Dimension dim = Dimension::of(shape[d]);
      bits += dim.bits;
      if (dim.odd > 1)
        repeats.push_back({below(2) ? Space::Register : Space::Wave, dim.odd, static_cast<int>(d)});
    }
    std::shuffle(repeats.begin(), repeats.end(), random_);
    std::vector<uint64_t> all = invertible(bits).columns();
    for (unsigned i = 0; i < broadcasts; ++i)
      all.push_back(below(2) ? 0 : random_() & ((uint64_t(1) << bits) - 1));
    std::shuffle(all.begin(), all.end(), random_);
    Bases bases;
    const unsigned lanes = std::min<unsigned>(lane_bits, static_cast<unsigned>(all.size()));
    const unsigned waves = std::min<unsigned>(wave_bits, static_cast<unsigned>(all.size()) - lanes);
    bases[1].assign(all.begin(), all.begin() + lanes);
    bases[2].assign(all.begin() + lanes, all.begin() + lanes + waves);
    bases[0].assign(all.begin() + lanes + waves, all.end());
    return LinearLayout::from_flat_bases(shape, bases, repeats);
  }

private:
  std::mt19937_64 random_;
};

template <class Visit> void for_each_position(const LinearLayout &layout, Visit visit) {
  for (uint32_t wave = 0; wave < layout.waves(); ++wave)
    for (uint32_t lane = 0; lane < layout.lanes(); ++lane)
      for (uint32_t reg = 0; reg < layout.registers(); ++reg)
        visit(Position{reg, lane, wave});
}

inline int64_t row_major(const ir::Shape &shape, const Coordinates &coordinates) {
  int64_t at = 0;
  for (size_t d = 0; d < shape.size(); ++d)
    at = at * shape[d] + coordinates[d];
  return at;
}

inline int64_t count(const ir::Shape &shape) {
  int64_t n = 1;
  for (int64_t size : shape)
    n *= size;
  return n;
}

} // namespace nereid::codegen::samples
