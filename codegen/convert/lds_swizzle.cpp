// Offsets in LDS for an exchange, such that lanes which are served together meet different banks.
#include "codegen/convert/lds_swizzle.h"

#include <algorithm>
#include <bit>

#include "codegen/convert/lds_banks.h"
#include "codegen/layout/bits.h"
#include "codegen/layout/subspace.h"
#include "codegen/target/gfx950.h"

namespace nereid::codegen {

namespace {

using Vectors = std::vector<uint64_t>;

Subspace lanes_and_waves(const LinearLayout &layout) {
  Subspace span(layout.bases(Space::Lane));
  span.add_all(layout.bases(Space::Wave));
  return span;
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
  Vectors basis = space.basis();
  basis.resize(std::min<size_t>(basis.size(), dimension));
  return Subspace(basis);
}

/// Grows `space` to `dimension` with vectors from `candidates`.
void grow(Subspace &space, unsigned dimension, const Vectors &candidates) {
  for (uint64_t vector : candidates)
    if (space.dimension() < dimension)
      space.add(vector);
}

/// A basis of `size` vectors of bits [0, size) of which the first `banks` go to banks and the others, which
/// span a common complement of `wide` and `narrow` as far as these have no more than `banks` dimensions, go
/// above. The last bank vector lies outside of `half` if possible: that side sees half of the banks.
Vectors split_banks(unsigned size, unsigned banks, Subspace wide, Subspace narrow, const Subspace &half) {
  const Vectors units = unit_vectors(size);
  wide = truncated(wide, banks);
  narrow = truncated(narrow, banks);
  grow(wide, banks, narrow.basis());
  grow(wide, banks, units);
  grow(narrow, banks, wide.basis());
  // Pair what only one of the two has: the sum lies in neither.
  Subspace common = intersection(wide, narrow);
  auto beyond = [&](const Subspace &space) {
    Vectors rest;
    Subspace seen = common;
    for (uint64_t vector : space.basis())
      if (seen.add(vector))
        rest.push_back(vector);
    return rest;
  };
  const Vectors only_wide = beyond(wide), only_narrow = beyond(narrow);
  Subspace above;
  for (size_t i = 0; i < only_wide.size(); ++i)
    above.add(only_wide[i] ^ only_narrow[i]);
  Subspace all = wide + narrow;
  for (uint64_t unit : units)
    if (all.add(unit))
      above.add(unit);

  Subspace chosen = above;
  Vectors result;
  auto take = [&](const Vectors &vectors) {
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

/// One side of an exchange.
struct Side {
  const LinearLayout &layout;
  LdsDirection direction;
};

/// An offset is made of directions of the tile (vectors of its coordinate bits), lowest bits first: `vector`,
/// `extra`, `rest`, `passes`. Lanes and waves lie in `rest`.
class SwizzleChoice {
public:
  SwizzleChoice(const LinearLayout &from, const LinearLayout &to, unsigned element_bytes,
                const SwizzleRequest &request)
      : request_(request),
        wide_(request.wide_is_write ? Side{from, LdsDirection::Write} : Side{to, LdsDirection::Read}),
        narrow_(request.wide_is_write ? Side{to, LdsDirection::Read} : Side{from, LdsDirection::Write}),
        bits_(from.coordinate_bits()), element_bytes_(element_bytes),
        element_shift_(std::countr_zero(element_bytes)), wide_threads_(lanes_and_waves(wide_.layout)),
        threads_(wide_threads_ + lanes_and_waves(narrow_.layout)),
        common_registers_(intersection(Subspace(wide_.layout.bases(Space::Register)),
                                       Subspace(narrow_.layout.bases(Space::Register)))) {}

  std::optional<Swizzle> run();

private:
  bool choose_accesses_and_passes();
  Subspace extra_of(const Subspace &vector) const;
  Subspace passes_of(const Subspace &accesses) const;
  Subspace choose_rest() const;
  Subspace phase_above(const Side &side, unsigned access_bits) const;
  BitMatrix banks_of_rest() const;

  unsigned access_bits() const { return vector_.dimension() + request_.extra_bits; }

  const SwizzleRequest &request_;
  Side wide_, narrow_;
  unsigned bits_, element_bytes_, element_shift_;
  Subspace wide_threads_, threads_; ///< what lanes and waves span, of the wide side and of both
  Subspace common_registers_;
  Subspace vector_; ///< registers of both sides, in every access
  Subspace extra_;  ///< registers of the wide side, in its accesses
  Subspace passes_; ///< registers of both sides, in no access
  Subspace rest_;
  BitMatrix coordinates_; ///< of an element along these directions
};

/// Vectors of registers are shortened until passes find directions that nobody else needs.
bool SwizzleChoice::choose_accesses_and_passes() {
  const auto max_bits = static_cast<unsigned>(std::countr_zero(gfx950::max_access_bytes)) - element_shift_;
  for (uint64_t candidate : common_registers_.basis())
    if (vector_.dimension() < max_bits && !(vector_ + threads_).contains(candidate))
      vector_.add(candidate);
  if (vector_.dimension() + request_.extra_bits > max_bits)
    return false;
  const auto choose = [&] {
    extra_ = extra_of(vector_);
    passes_ = passes_of(vector_ + extra_);
  };
  choose();
  while (passes_.dimension() != request_.pass_bits && vector_.dimension() > 0) {
    vector_ = truncated(vector_, vector_.dimension() - 1);
    choose();
  }
  return extra_.dimension() == request_.extra_bits && passes_.dimension() == request_.pass_bits;
}

Subspace SwizzleChoice::extra_of(const Subspace &vector) const {
  Subspace extra;
  for (uint64_t candidate : wide_.layout.bases(Space::Register)) {
    Subspace grown = extra;
    if (extra.dimension() == request_.extra_bits || !grown.add(candidate))
      continue;
    if (independent(vector, threads_ + grown) && independent(vector + wide_threads_, grown))
      extra = grown;
  }
  return extra;
}

/// Directions that no lane, wave or access needs.
Subspace SwizzleChoice::passes_of(const Subspace &accesses) const {
  const Subspace kept = accesses + threads_;
  Subspace passes;
  Vectors candidates = common_registers_.basis();
  const Vectors units = unit_vectors(bits_);
  candidates.insert(candidates.end(), units.begin(), units.end());
  for (uint64_t candidate : candidates)
    if (passes.dimension() < request_.pass_bits && !(kept + passes).contains(candidate))
      passes.add(candidate);
  return passes;
}

/// A complement of the vector within the tile of a pass, then of the extra bits.
Subspace SwizzleChoice::choose_rest() const {
  Subspace beside = threads_ + extra_;
  for (uint64_t candidate : unit_vectors(bits_))
    if (!(beside + vector_ + passes_).contains(candidate))
      beside.add(candidate);
  Subspace rest = wide_threads_;
  for (uint64_t candidate : beside.basis())
    if (!(rest + extra_).contains(candidate))
      rest.add(candidate);
  return rest;
}

/// What the lanes of a phase span among the bits above an access. Extra bits that are bank bits for the
/// narrow side keep its lanes apart by themselves.
Subspace SwizzleChoice::phase_above(const Side &side, unsigned access_bits_of_side) const {
  const unsigned access = access_bits(), size = rest_.dimension();
  const auto word_bits = static_cast<unsigned>(std::countr_zero(gfx950::lds_bank_bytes));
  const unsigned word = word_bits - std::min(element_shift_, word_bits);
  Subspace span;
  const Subspace phase = phase_span(side.layout, side.direction, element_bytes_ << access_bits_of_side);
  for (uint64_t vector : phase.basis())
    span.add(coordinates_.apply(vector));
  Subspace free;
  for (unsigned i = 0; i < size; ++i)
    free.add(uint64_t(1) << (access + i));
  for (unsigned i = 0; i < std::min(word, access); ++i)
    free.add(uint64_t(1) << i);
  Subspace result;
  const Subspace above = intersection(span, free);
  for (uint64_t vector : above.basis())
    result.add(vector >> access & low_mask(size));
  return result;
}

/// Coordinates along the directions -> offset bits: `rest` is turned so that phases meet different banks.
BitMatrix SwizzleChoice::banks_of_rest() const {
  const unsigned access = access_bits(), size = rest_.dimension();
  const Subspace wide = phase_above(wide_, access), narrow = phase_above(narrow_, vector_.dimension());
  const unsigned bank_top = gfx950::lds_log2_banks +
                            static_cast<unsigned>(std::countr_zero(gfx950::lds_bank_bytes)) - element_shift_;
  const Vectors split = split_banks(size, std::min(size, bank_top - access), wide, narrow,
                                    request_.wide_is_write ? wide : narrow);
  Vectors basis = unit_vectors(access);
  for (uint64_t vector : split)
    basis.push_back(vector << access);
  for (unsigned i = 0; i < request_.pass_bits; ++i)
    basis.push_back(uint64_t(1) << (access + size + i));
  return BitMatrix(bits_, basis).inverted();
}

std::optional<Swizzle> SwizzleChoice::run() {
  if (!choose_accesses_and_passes())
    return std::nullopt;
  rest_ = choose_rest();
  Vectors basis = vector_.basis();
  for (const Subspace *part : {&extra_, &rest_, &passes_})
    basis.insert(basis.end(), part->basis().begin(), part->basis().end());
  coordinates_ = BitMatrix(bits_, basis).inverted();
  Swizzle swizzle;
  swizzle.offset = banks_of_rest() * coordinates_;
  swizzle.write_bits = request_.wide_is_write ? access_bits() : vector_.dimension();
  swizzle.read_bits = request_.wide_is_write ? vector_.dimension() : access_bits();
  return swizzle;
}

} // namespace

std::optional<Swizzle> choose_swizzle(const LinearLayout &from, const LinearLayout &to,
                                      unsigned element_bytes, const SwizzleRequest &request) {
  return SwizzleChoice(from, to, element_bytes, request).run();
}

} // namespace nereid::codegen
