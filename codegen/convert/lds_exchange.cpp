// Exchanges through LDS: accesses, offsets and passes of both sides.
#include "codegen/convert/lds_exchange.h"

#include <algorithm>
#include <bit>
#include <map>

#include "codegen/convert/lds_banks.h"
#include "codegen/convert/lds_swizzle.h"
#include "codegen/target/cost_model.h"

namespace nereid::codegen {

namespace {

/// Where the odd index of each dimension puts an element: into a pass of its own or further up in the region.
struct OddPlacement {
  std::vector<uint32_t> stride; ///< elements per step of a dimension's odd index
  std::vector<uint32_t> pass;   ///< passes per step
  uint32_t elements = 0;        ///< of the region
  uint32_t passes = 1;
};

/// Odd indices that are registers on both sides become passes where the limit asks for it.
OddPlacement place_odd(const LinearLayout &from, const LinearLayout &to, uint32_t elements, uint32_t limit) {
  auto in_registers = [](const LinearLayout &layout, int dim) {
    return std::all_of(layout.repeats().begin(), layout.repeats().end(),
                       [&](const Repeat &r) { return r.dim != dim || r.owner == Space::Register; });
  };
  OddPlacement place;
  place.stride.resize(from.rank(), 0);
  place.pass.resize(from.rank(), 0);
  uint32_t total = elements;
  for (unsigned d = 0; d < from.rank(); ++d)
    total *= from.dim(d).odd;
  place.elements = elements;
  for (unsigned d = 0; d < from.rank(); ++d) {
    const uint32_t odd = from.dim(d).odd;
    if (odd == 1)
      continue;
    const int dim = static_cast<int>(d);
    if (total > limit && in_registers(from, dim) && in_registers(to, dim)) {
      place.pass[d] = place.passes;
      place.passes *= odd;
      total /= odd;
    } else {
      place.stride[d] = place.elements;
      place.elements *= odd;
    }
  }
  return place;
}

std::vector<uint32_t> mapped(const BitMatrix &offset, const std::vector<uint64_t> &bases) {
  std::vector<uint32_t> result;
  result.reserve(bases.size());
  for (uint64_t flat_basis : bases)
    result.push_back(static_cast<uint32_t>(offset.apply(flat_basis)));
  return result;
}

LdsSide make_side(const LinearLayout &layout, const Swizzle &swizzle, unsigned access_bits,
                  unsigned pass_bits, const OddPlacement &place, unsigned element_bytes,
                  LdsDirection direction) {
  LdsSide side;
  side.access_bytes = element_bytes << access_bits;
  side.lane_bases = mapped(swizzle.offset, layout.bases(Space::Lane));
  side.wave_bases = mapped(swizzle.offset, layout.bases(Space::Wave));
  const unsigned region_bits = layout.coordinate_bits() - pass_bits;

  std::vector<uint32_t> steps(layout.rank(), 1);
  struct RegisterRepeat {
    uint32_t count, stride, pass;
  };
  std::vector<RegisterRepeat> register_repeats;
  uint32_t divisor = 1;
  for (const Repeat &repeat : layout.repeats()) {
    const bool walks = repeat.dim != Repeat::broadcast;
    const uint32_t step = walks ? steps[repeat.dim] : 0;
    if (walks)
      steps[repeat.dim] *= repeat.count;
    const uint32_t stride = walks ? step * place.stride[repeat.dim] : 0;
    if (repeat.owner == Space::Register) {
      register_repeats.push_back({repeat.count, stride, walks ? step * place.pass[repeat.dim] : 0});
      continue;
    }
    if (walks)
      side.wave_repeats.push_back({divisor, repeat.count, stride});
    divisor *= repeat.count;
  }

  const BitMatrix registers(layout.coordinate_bits(), layout.bases(Space::Register));
  const unsigned bits = registers.size();
  // By pass, then addition, then xor: an access gathers the registers that differ in the low offset bits.
  std::map<std::array<uint32_t, 3>, std::vector<uint32_t>> accesses;
  for (uint32_t reg = 0; reg < layout.registers(); ++reg) {
    uint32_t rest = reg >> bits, add = 0, odd_pass = 0;
    for (const RegisterRepeat &repeat : register_repeats) {
      add += rest % repeat.count * repeat.stride;
      odd_pass += rest % repeat.count * repeat.pass;
      rest /= repeat.count;
    }
    const auto offset =
        static_cast<uint32_t>(swizzle.offset.apply(registers.apply(reg & ((uint32_t(1) << bits) - 1))));
    const uint32_t in_region = offset & ((uint32_t(1) << region_bits) - 1);
    const uint32_t pass = (offset >> region_bits) + (odd_pass << pass_bits);
    auto &group = accesses[{pass, add, in_region >> access_bits << access_bits}];
    group.resize(size_t(1) << access_bits);
    group[in_region & ((uint32_t(1) << access_bits) - 1)] = reg;
  }
  for (auto &[key, group] : accesses)
    side.accesses.push_back({std::move(group), key[2], key[1], key[0]});

  std::vector<uint32_t> addresses;
  addresses.reserve(layout.lanes());
  for (uint32_t lane = 0; lane < layout.lanes(); ++lane)
    addresses.push_back(side.offset(side.accesses.front(), lane, 0) * element_bytes);
  side.cycles = lds_clocks(direction, side.access_bytes, addresses);
  return side;
}

} // namespace

std::optional<LdsStep> plan_lds(const LinearLayout &from, const LinearLayout &to, unsigned element_bytes,
                                uint32_t limit) {
  const unsigned bits = from.coordinate_bits();
  std::optional<LdsStep> best;
  for (unsigned pass_bits = 0; pass_bits <= bits && !best; ++pass_bits) {
    const OddPlacement place = place_odd(from, to, uint32_t(1) << (bits - pass_bits), limit / element_bytes);
    if (place.elements * element_bytes > limit)
      continue;
    for (bool wide_is_write : {true, false})
      for (unsigned extra = wide_is_write ? 0 : 1; extra <= 4; ++extra) {
        std::optional<Swizzle> swizzle =
            choose_swizzle(from, to, element_bytes, {wide_is_write, extra, pass_bits});
        if (!swizzle)
          continue;
        LdsStep step;
        step.element_bytes = element_bytes;
        step.elements = place.elements;
        step.registers = to.registers();
        step.passes = place.passes << pass_bits;
        step.redundant_lanes = static_cast<uint32_t>(from.free_mask(Space::Lane));
        step.redundant_waves = static_cast<uint32_t>(from.free_mask(Space::Wave));
        step.write = make_side(from, *swizzle, swizzle->write_bits, pass_bits, place, element_bytes,
                               LdsDirection::Write);
        step.read =
            make_side(to, *swizzle, swizzle->read_bits, pass_bits, place, element_bytes, LdsDirection::Read);
        if (!best || lds_clocks(step) < lds_clocks(*best))
          best = std::move(step);
      }
  }
  return best;
}

unsigned lds_clocks(const LdsStep &step) {
  const auto clocks = [](const LdsSide &side) {
    return side.accesses.size() * (side.cycles + cost::lds_issue_clocks);
  };
  return static_cast<unsigned>(clocks(step.write) + clocks(step.read));
}

} // namespace nereid::codegen
