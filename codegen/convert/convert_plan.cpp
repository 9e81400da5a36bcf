// Conversions between layouts: inside lanes, inside waves or through LDS, whichever is estimated cheaper.
#include "codegen/convert/convert_plan.h"

#include <bit>
#include <numeric>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "codegen/convert/lane_exchange.h"
#include "codegen/convert/lds_exchange.h"
#include "codegen/layout/bits.h"
#include "codegen/layout/layout_error.h"
#include "codegen/target/cost_model.h"

namespace nereid::codegen {

namespace {

uint32_t xor_of_bases(const std::vector<uint32_t> &bases, uint32_t bits) {
  uint32_t sum = 0;
  for (size_t i = 0; i < bases.size(); ++i)
    if (bits >> i & 1)
      sum ^= bases[i];
  return sum;
}

/// A layout without register broadcast, and how its registers correspond.
struct Compacted {
  LinearLayout layout;
  std::vector<uint32_t> original; ///< of each compact register
  std::vector<uint32_t> compact;  ///< of each original register
};

Compacted compact_registers(const LinearLayout &layout) {
  Compacted result;
  result.layout = layout.without_register_broadcast();
  const unsigned bits = layout.bits(Space::Register), kept = result.layout.bits(Space::Register);
  const uint64_t free = layout.free_mask_within(Space::Register);
  const BitMatrix basis(layout.coordinate_bits(), result.layout.bases(Space::Register));
  std::vector<uint32_t> to_compact, to_original;
  for (unsigned i = 0; i < bits; ++i) {
    to_compact.push_back(static_cast<uint32_t>(basis.solution(layout.flat_basis(Space::Register, i))));
    if (!(free >> i & 1))
      to_original.push_back(uint32_t(1) << i);
  }
  // Numbers of the repeats that stay, without those that broadcast.
  std::vector<uint32_t> first_with(result.layout.odd(Space::Register)), number(layout.odd(Space::Register));
  for (uint32_t odd = layout.odd(Space::Register); odd-- > 0;) {
    uint32_t rest = odd, factor = 1;
    for (const Repeat &repeat : layout.repeats()) {
      if (repeat.owner != Space::Register)
        continue;
      if (repeat.dim != Repeat::broadcast) {
        number[odd] += rest % repeat.count * factor;
        factor *= repeat.count;
      }
      rest /= repeat.count;
    }
    first_with[number[odd]] = odd;
  }
  for (uint32_t reg = 0; reg < result.layout.registers(); ++reg)
    result.original.push_back(first_with[reg >> kept] << bits |
                              xor_of_bases(to_original, reg & low_mask(kept)));
  for (uint32_t reg = 0; reg < layout.registers(); ++reg)
    result.compact.push_back(number[reg >> bits] << kept | xor_of_bases(to_compact, reg & low_mask(bits)));
  return result;
}

/// For each register repeat of `to` the one of `from` with the same odd indices in every wave.
std::optional<std::vector<uint32_t>> match_repeats(const LinearLayout &from, const LinearLayout &to) {
  auto odd_indices = [](const LinearLayout &layout, uint32_t reg, uint32_t wave) {
    Coordinates at = layout.apply({reg << layout.bits(Space::Register), 0, wave << layout.bits(Space::Wave)});
    for (unsigned d = 0; d < layout.rank(); ++d)
      at[d] >>= layout.dim(d).bits;
    return at;
  };
  std::vector<uint32_t> result;
  for (uint32_t wanted = 0; wanted < to.odd(Space::Register); ++wanted) {
    std::optional<uint32_t> found;
    for (uint32_t held = 0; held < from.odd(Space::Register) && !found; ++held) {
      bool same = true;
      for (uint32_t wave = 0; wave < to.odd(Space::Wave) && same; ++wave)
        same = odd_indices(from, held, wave) == odd_indices(to, wanted, wave);
      if (same)
        found = held;
    }
    if (!found)
      return std::nullopt;
    result.push_back(*found);
  }
  return result;
}

/// Joins renames that follow each other and drops those that change nothing.
std::vector<ConversionStep> tidy(std::vector<ConversionStep> steps, uint32_t registers) {
  std::vector<ConversionStep> result;
  uint32_t before = registers;
  auto drop_identity = [&] {
    auto *rename = result.empty() ? nullptr : std::get_if<RenameStep>(&result.back());
    if (!rename || rename->source.size() != before)
      return;
    for (uint32_t r = 0; r < before; ++r)
      if (rename->source[r] != r)
        return;
    result.pop_back();
  };
  for (ConversionStep &step : steps) {
    auto *rename = std::get_if<RenameStep>(&step);
    auto *last = result.empty() ? nullptr : std::get_if<RenameStep>(&result.back());
    if (rename && last) {
      for (uint32_t &source : rename->source)
        source = last->source[source];
      *last = std::move(*rename);
      continue;
    }
    if (!rename)
      drop_identity();
    auto *now = result.empty() ? nullptr : std::get_if<RenameStep>(&result.back());
    if (now)
      before = static_cast<uint32_t>(now->source.size());
    if (auto *lds = std::get_if<LdsStep>(&step))
      before = lds->registers;
    result.push_back(std::move(step));
  }
  drop_identity();
  return result;
}

unsigned lane_cost(const std::vector<ConversionStep> &steps, uint32_t registers) {
  unsigned cost = 0;
  bool shuffles = false;
  for (const ConversionStep &step : steps)
    if (auto *rename = std::get_if<RenameStep>(&step)) {
      registers = static_cast<uint32_t>(rename->source.size());
    } else if (std::holds_alternative<SelectStep>(step)) {
      cost += registers * cost::vector_clocks;
    } else if (auto *swap = std::get_if<SwapStep>(&step)) {
      cost += (registers >> swap->pack_bits) * cost::vector_clocks;
    } else if (auto *shuffle = std::get_if<ShuffleStep>(&step)) {
      cost += (registers >> shuffle->pack_bits) * cost::shuffle_clocks;
      shuffles = true;
    }
  return cost + (shuffles ? cost::lds_latency : 0);
}

/// The plan that stays inside waves, if no element has to leave its wave.
std::optional<ConversionPlan> plan_in_wave(const Compacted &held, const Compacted &wanted, uint32_t registers,
                                           unsigned element_bits) {
  const std::optional<std::vector<uint32_t>> repeats = match_repeats(held.layout, wanted.layout);
  if (!repeats)
    return std::nullopt;
  const std::optional<WaveLocalMap> local = wave_local_map(held.layout, wanted.layout);
  if (!local)
    return std::nullopt;
  RenameStep align;
  const unsigned bits = held.layout.bits(Space::Register);
  for (uint32_t repeat : *repeats)
    for (uint32_t reg = 0; reg < uint32_t(1) << bits; ++reg)
      align.source.push_back(repeat << bits | reg);
  std::vector<ConversionStep> steps = {RenameStep{held.original}, align};
  for (ConversionStep &step : lane_steps(*local, static_cast<uint32_t>(repeats->size()), element_bits))
    steps.push_back(std::move(step));
  steps.push_back(RenameStep{wanted.compact});
  ConversionPlan plan;
  plan.steps = tidy(std::move(steps), registers);
  plan.cost = lane_cost(plan.steps, registers);
  plan.kind = plan.steps.empty()     ? ConversionKind::None
              : local->is_renaming() ? ConversionKind::Registers
                                     : ConversionKind::Lanes;
  return plan;
}

} // namespace

uint32_t ShuffleStep::source_lane(uint32_t reg, uint32_t lane, uint32_t wave) const {
  return xor_of_bases(lane_bases, lane) ^ xor_of_bases(wave_bases, wave) ^ xor_of_bases(register_bases, reg);
}

uint32_t LdsSide::offset(const LdsAccess &access, uint32_t lane, uint32_t wave) const {
  uint32_t at = access.xor_offset ^ xor_of_bases(lane_bases, lane) ^ xor_of_bases(wave_bases, wave);
  at += access.add_offset;
  for (const WaveRepeat &repeat : wave_repeats)
    at += (wave >> wave_bases.size()) / repeat.divisor % repeat.count * repeat.stride;
  return at;
}

uint32_t LdsSide::thread_bits() const {
  uint32_t bits = 0;
  for (const std::vector<uint32_t> *bases : {&lane_bases, &wave_bases})
    for (uint32_t flat_basis : *bases)
      bits |= flat_basis;
  return bits;
}

const char *kind_name(ConversionKind kind) {
  static constexpr const char *names[] = {"none", "registers", "lanes", "lds"};
  return names[static_cast<unsigned>(kind)];
}

uint32_t ConversionPlan::lds_bytes() const {
  uint32_t bytes = 0;
  for (const ConversionStep &step : steps)
    if (auto *lds = std::get_if<LdsStep>(&step))
      bytes = lds->bytes();
  return bytes;
}

std::string ConversionPlan::text() const {
  std::string text = fmt::format("{}, about {} clocks\n", kind_name(kind), cost);
  for (const ConversionStep &step : steps)
    if (auto *rename = std::get_if<RenameStep>(&step)) {
      text += fmt::format("rename {}\n", fmt::join(rename->source, " "));
    } else if (auto *select = std::get_if<SelectStep>(&step)) {
      text += fmt::format("select register ^ {} by lane & {:#x}, wave & {:#x}\n", select->reg_xor,
                          select->lane_mask, select->wave_mask);
    } else if (auto *shuffle = std::get_if<ShuffleStep>(&step)) {
      text += fmt::format("shuffle lane bits from {}; register bits add {}; {} a word\n",
                          fmt::join(shuffle->lane_bases, " "), fmt::join(shuffle->register_bases, " "),
                          1u << shuffle->pack_bits);
    } else if (auto *swap = std::get_if<SwapStep>(&step)) {
      text += fmt::format("swap register bit {} with lane bit {}; {} a word\n", swap->reg_bit, swap->lane_bit,
                          1u << swap->pack_bits);
    } else if (auto *lds = std::get_if<LdsStep>(&step)) {
      text +=
          fmt::format("lds {} bytes, {} passes, {}: {} writes of {} bytes ({} clocks), {} reads of {} bytes "
                      "({} clocks)\n",
                      lds->bytes(), lds->passes, lds->crosses_waves ? "across waves" : "inside waves",
                      lds->write.accesses.size(), lds->write.access_bytes, lds->write.cycles,
                      lds->read.accesses.size(), lds->read.access_bytes, lds->read.cycles);
    }
  return text;
}

Result<ConversionPlan> plan_conversion(const LinearLayout &from, const LinearLayout &to,
                                       unsigned element_bits, const ConversionOptions &options) {
  require_layout(from.shape() == to.shape() && from.bits(Space::Lane) == to.bits(Space::Lane) &&
                     from.waves() == to.waves(),
                 "a tile is wanted with another shape or in another workgroup");
  if (!from.is_surjective())
    return nereid_error("the layout " + from.text() + " does not hold every element of its tile");
  if (from == to)
    return ConversionPlan{};
  const Compacted held = compact_registers(from), wanted = compact_registers(to);
  const std::optional<ConversionPlan> in_wave = plan_in_wave(held, wanted, from.registers(), element_bits);
  if (in_wave && (in_wave->kind != ConversionKind::Lanes || (!options.allow_lds && options.allow_lanes)))
    return *in_wave;

  const unsigned element_bytes = std::bit_ceil(element_bits < 8 ? 8 : element_bits) / 8;
  std::optional<LdsStep> lds = plan_lds(held.layout, wanted.layout, element_bytes, options.lds_limit);
  if (in_wave && options.allow_lanes &&
      (!lds || in_wave->cost <= lds_clocks(*lds) + lds->passes * cost::exchange_latency))
    return *in_wave;
  if (!lds)
    return nereid_error(
        fmt::format("no way to exchange {} elements of {} bytes between {} and {} within {} bytes "
                    "of LDS",
                    ir::text(from.shape()), element_bytes, from.text(), to.text(), options.lds_limit));
  lds->crosses_waves = !in_wave;
  ConversionPlan plan;
  plan.kind = ConversionKind::Lds;
  plan.cost = lds_clocks(*lds) + lds->passes * cost::exchange_latency;
  plan.steps = tidy({RenameStep{held.original}, *lds, RenameStep{wanted.compact}}, from.registers());
  return plan;
}

} // namespace nereid::codegen
