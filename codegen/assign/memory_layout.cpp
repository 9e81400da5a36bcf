// Layouts of loads and stores, and how wide their accesses may be.
#include "codegen/assign/memory_layout.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "codegen/target/gfx950.h"

namespace nereid::codegen {

LinearLayout scalar_layout(int waves) {
  return LinearLayout::zeros1d(Space::Lane, 0, gfx950::lanes) * LinearLayout::zeros1d(Space::Wave, 0, waves);
}

/// Blocks of `elements` along `order[0]`; lanes, then waves, fill the dimensions in that order.
static LinearLayout blocked(const ir::Shape &shape, unsigned elements, const std::vector<unsigned> &order,
                            int waves) {
  std::vector<uint32_t> registers(shape.size(), 1), lanes(shape.size(), 1), wave_counts(shape.size(), 1);
  registers[order[0]] = elements;
  uint32_t lanes_left = gfx950::lanes, waves_left = static_cast<uint32_t>(waves);
  for (unsigned d : order) {
    uint32_t room = (uint32_t(1) << Dimension::of(shape[d]).bits) / registers[d];
    lanes[d] = std::min(lanes_left, room);
    lanes_left /= lanes[d];
    wave_counts[d] = std::min(waves_left, room / lanes[d]);
    waves_left /= wave_counts[d];
  }
  lanes[order.back()] *= lanes_left;
  wave_counts[order.back()] *= waves_left;
  return LinearLayout::blocked(shape, registers, lanes, wave_counts, order);
}

static std::vector<unsigned> row_major(size_t rank) {
  std::vector<unsigned> order(rank);
  std::iota(order.rbegin(), order.rend(), 0);
  return order;
}

LinearLayout default_layout(const ir::Shape &shape, int waves) {
  if (shape.empty())
    return scalar_layout(waves);
  return blocked(shape, 1, row_major(shape.size()), waves);
}

LinearLayout shared_layout(const ir::Shape &shape, unsigned neighbours, int waves) {
  int64_t count = 1;
  for (const int64_t size : shape)
    count *= size;
  const unsigned row_bits = Dimension::of(shape.back()).bits, share_bits = Dimension::of(count).bits;
  const auto lane_bits = static_cast<unsigned>(std::bit_width(gfx950::lanes * unsigned(waves)) - 1);
  const unsigned bits = std::min(row_bits, share_bits - std::min(share_bits, lane_bits));
  return blocked(shape, std::min(neighbours, 1u << bits), row_major(shape.size()), waves);
}

LinearLayout in_every_wave(const LinearLayout &one_wave, int waves) {
  return one_wave * LinearLayout::zeros1d(Space::Wave, one_wave.rank(), waves);
}

static bool may_start(const AxisInfo &pointer, unsigned d, int64_t elements, unsigned bytes,
                      AccessStart start) {
  return start == AccessStart::Anywhere || pointer.divisibility_at(d, elements, bytes) >=
                                               std::min<int64_t>(gfx950::access_alignment, elements * bytes);
}

/// Elements along `d` that one access may take, as far as addresses and mask are concerned.
static int64_t provable_elements(const AxisInfo &pointer, const AxisInfo *mask, unsigned d, unsigned bytes,
                                 AccessStart start) {
  int64_t best = 1;
  for (int64_t n = 2; n * bytes <= gfx950::max_access_bytes; n *= 2) {
    if (n > pointer.contiguity[d] || (mask && !mask->constant && n > mask->constancy[d]))
      break;
    if (may_start(pointer, d, n, bytes, start))
      best = n;
  }
  return best;
}

VectorAccess vector_access(const LinearLayout &layout, const AxisInfo &pointer, const AxisInfo *mask,
                           unsigned bytes, AccessStart start) {
  VectorAccess best;
  for (unsigned d = 0; d < layout.rank(); ++d) {
    VectorAccess access;
    int64_t provable = provable_elements(pointer, mask, d, bytes, start);
    for (unsigned bit = 0; bit < layout.dim(d).bits && (2ll << bit) <= provable; ++bit) {
      const std::vector<uint64_t> &bases = layout.bases(Space::Register);
      auto at = std::find(bases.begin(), bases.end(), uint64_t(1) << (layout.first_bit(d) + bit));
      if (at == bases.end())
        break;
      access.register_bits.push_back(static_cast<unsigned>(at - bases.begin()));
    }
    while (!access.register_bits.empty() && !may_start(pointer, d, access.elements(), bytes, start))
      access.register_bits.pop_back();
    if (access.register_bits.size() > best.register_bits.size())
      best = std::move(access);
  }
  return best;
}

LinearLayout coalesced_layout(const ir::Shape &shape, const AxisInfo &pointer, const AxisInfo *mask,
                              unsigned bytes, int waves, AccessStart start) {
  if (shape.empty())
    return scalar_layout(waves);
  std::vector<unsigned> order = row_major(shape.size());
  std::stable_sort(order.begin(), order.end(),
                   [&](unsigned a, unsigned b) { return pointer.contiguity[a] > pointer.contiguity[b]; });
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  int64_t share = std::max<int64_t>(1, count / (int64_t(gfx950::lanes) * waves));
  auto row = int64_t(1) << Dimension::of(shape[order[0]]).bits;
  int64_t elements = std::min({provable_elements(pointer, mask, order[0], bytes, start),
                               static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(share))), row});
  return blocked(shape, static_cast<unsigned>(elements), order, waves);
}

} // namespace nereid::codegen
