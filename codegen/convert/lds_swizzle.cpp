#include "codegen/convert/lds_swizzle.h"

#include <algorithm>
#include <bit>

#include "codegen/convert/lds_banks.h"
#include "codegen/layout/subspace.h"

namespace nereid::codegen {

namespace {

using Columns = std::vector<uint64_t>;

uint64_t low_mask(unsigned bits) { return (uint64_t(1) << bits) - 1; }

Columns lanes_and_waves(const LinearLayout &layout) {
  Columns bases = layout.bases(Space::Lane);
  const Columns &waves = layout.bases(Space::Wave);
  bases.insert(bases.end(), waves.begin(), waves.end());
  return bases;
}

bool independent(const Subspace &a, const Subspace &b) {
  return (a + b).dimension() == a.dimension() + b.dimension();
}

/// What the lanes of a phase span, with lane bits that the layout lacks left out.
Subspace phase_span(const LinearLayout &layout, LdsDirection direction, unsigned access_bytes) {
  const BitMatrix lanes(layout.coordinate_bits(), layout.bases(Space::Lane));
  Subspace span;
  for (uint64_t lane : lds_phase(direction, access_bytes).lanes)
    span.add(lanes.apply(lane & low_mask(lanes.size())));
  return span;
}

Subspace truncated(const Subspace &space, unsigned dimension) {
  Columns basis = space.basis();
  basis.resize(std::min<size_t>(basis.size(), dimension));
  return Subspace(basis);
}

/// Grows `space` to `dimension` with vectors from `candidates`.
void grow(Subspace &space, unsigned dimension, const Columns &candidates) {
  for (uint64_t vector : candidates)
    if (space.dimension() < dimension)
      space.add(vector);
}

/// A basis of `size` vectors of bits [0, size) of which the first `banks` go to banks and the others, which
/// span a common complement of `wide` and `narrow` as far as these have no more than `banks` dimensions, go
/// above. The last bank vector lies outside of `half` if possible: that side sees half of the banks.
Columns split_banks(unsigned size, unsigned banks, Subspace wide, Subspace narrow, const Subspace &half) {
  const Columns units = unit_vectors(size);
  wide = truncated(wide, banks);
  narrow = truncated(narrow, banks);
  grow(wide, banks, narrow.basis());
  grow(wide, banks, units);
  grow(narrow, banks, wide.basis());
  // Pair what only one of the two has: the sum lies in neither.
  Subspace common = intersection(wide, narrow);
  auto beyond = [&](const Subspace &space) {
    Columns rest;
    Subspace seen = common;
    for (uint64_t vector : space.basis())
      if (seen.add(vector))
        rest.push_back(vector);
    return rest;
  };
  const Columns only_wide = beyond(wide), only_narrow = beyond(narrow);
  Subspace above;
  for (size_t i = 0; i < only_wide.size(); ++i)
    above.add(only_wide[i] ^ only_narrow[i]);
  Subspace all = wide + narrow;
  for (uint64_t unit : units)
    if (all.add(unit))
      above.add(unit);

  Subspace chosen = above;
  Columns result;
  auto take = [&](const Columns &vectors) {
    for (uint64_t vector : vectors)
      if (result.size() < banks && chosen.add(vector))
        result.push_back(vector);
  };
  take(half.basis());
  take(wide.basis());
  take(units);
  result.insert(result.end(), above.basis().begin(), above.basis().end());
  return result;
}

} // namespace

std::optional<Swizzle> choose_swizzle(const LinearLayout &from, const LinearLayout &to,
                                      unsigned element_bytes, const SwizzleRequest &request) {
  const unsigned bits = from.coordinate_bits();
  const LinearLayout &wide = request.wide_is_write ? from : to, &narrow = request.wide_is_write ? to : from;
  const LdsDirection wide_direction = request.wide_is_write ? LdsDirection::Write : LdsDirection::Read;
  const LdsDirection narrow_direction = request.wide_is_write ? LdsDirection::Read : LdsDirection::Write;
  const unsigned element_shift = std::countr_zero(element_bytes);
  const unsigned most = 4 - element_shift; // a 16-byte access
  const Columns units = unit_vectors(bits);

  const Subspace wide_others(lanes_and_waves(wide));
  const Subspace others = wide_others + Subspace(lanes_and_waves(narrow));
  const Subspace both =
      intersection(Subspace(wide.bases(Space::Register)), Subspace(narrow.bases(Space::Register)));
  Subspace vector;
  for (uint64_t candidate : both.basis())
    if (vector.dimension() < most && !(vector + others).contains(candidate))
      vector.add(candidate);
  if (vector.dimension() + request.extra_bits > most)
    return std::nullopt;
  auto choose_extra = [&] {
    Subspace extra;
    for (uint64_t candidate : wide.bases(Space::Register)) {
      Subspace grown = extra;
      if (extra.dimension() == request.extra_bits || !grown.add(candidate))
        continue;
      if (independent(vector, others + grown) && independent(vector + wide_others, grown))
        extra = grown;
    }
    return extra;
  };
  // Passes split along directions that no lane, wave or access needs.
  auto choose_passes = [&](const Subspace &extra) {
    const Subspace kept = vector + extra + others;
    Subspace passes;
    Columns candidates = both.basis();
    candidates.insert(candidates.end(), units.begin(), units.end());
    for (uint64_t candidate : candidates)
      if (passes.dimension() < request.pass_bits && !(kept + passes).contains(candidate))
        passes.add(candidate);
    return passes;
  };
  Subspace extra = choose_extra(), passes = choose_passes(extra);
  while (passes.dimension() != request.pass_bits && vector.dimension() > 0) {
    vector = truncated(vector, vector.dimension() - 1);
    extra = choose_extra();
    passes = choose_passes(extra);
  }
  if (extra.dimension() != request.extra_bits || passes.dimension() != request.pass_bits)
    return std::nullopt;

  // Complements of the vector within the tile of a pass, then of the extra bits: they hold the lanes and
  // waves.
  const unsigned access = vector.dimension() + request.extra_bits;
  Subspace beside = others + extra;
  for (uint64_t candidate : units)
    if (!(beside + vector + passes).contains(candidate))
      beside.add(candidate);
  Subspace rest = wide_others;
  for (uint64_t candidate : beside.basis())
    if (!(rest + extra).contains(candidate))
      rest.add(candidate);
  const unsigned size = rest.dimension();
  Columns basis = vector.basis();
  for (const Subspace *part : {&extra, &rest, &passes})
    basis.insert(basis.end(), part->basis().begin(), part->basis().end());
  const BitMatrix coordinates = BitMatrix(bits, basis).inverted();

  // In these coordinates: what the lanes of a phase span among the bits above an access. Extra bits that are
  // bank bits for the narrow side keep its lanes apart by themselves.
  const unsigned word = 2 > element_shift ? 2 - element_shift : 0;
  auto span_above = [&](const LinearLayout &layout, LdsDirection direction, unsigned access_bits) {
    Subspace span;
    const Subspace phase = phase_span(layout, direction, element_bytes << access_bits);
    for (uint64_t v : phase.basis())
      span.add(coordinates.apply(v));
    Subspace free;
    for (unsigned i = 0; i < size; ++i)
      free.add(uint64_t(1) << (access + i));
    for (unsigned i = 0; i < std::min(word, access); ++i)
      free.add(uint64_t(1) << i);
    Subspace result;
    const Subspace above = intersection(span, free);
    for (uint64_t v : above.basis())
      result.add(v >> access & low_mask(size));
    return result;
  };
  const Subspace wide_span = span_above(wide, wide_direction, access);
  const Subspace narrow_span = span_above(narrow, narrow_direction, vector.dimension());
  const unsigned bank_top = 8 - element_shift; // 64 banks of 4 bytes
  const unsigned banks = std::min(size, bank_top - access);
  const Columns split =
      split_banks(size, banks, wide_span, narrow_span, request.wide_is_write ? wide_span : narrow_span);

  Columns final_basis;
  for (unsigned i = 0; i < access; ++i)
    final_basis.push_back(uint64_t(1) << i);
  for (uint64_t v : split)
    final_basis.push_back(v << access);
  for (unsigned i = 0; i < request.pass_bits; ++i)
    final_basis.push_back(uint64_t(1) << (access + size + i));
  Swizzle swizzle;
  swizzle.offset = BitMatrix(bits, final_basis).inverted() * coordinates;
  swizzle.write_bits = request.wide_is_write ? access : vector.dimension();
  swizzle.read_bits = request.wide_is_write ? vector.dimension() : access;
  return swizzle;
}

} // namespace nereid::codegen
