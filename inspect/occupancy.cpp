// What limits how many waves a SIMD holds.
#include "inspect/occupancy.h"

#include <algorithm>

#include <fmt/format.h>

#include "jit/compile/resources.h"
#include "sim/state/isa_limits.h"
#include "sim/timing/constants.h"

namespace nereid::inspect {
namespace {

unsigned round_up(unsigned value, unsigned granule) { return (value + granule - 1) / granule * granule; }

/// The most of a resource, in steps of `granule`, with which more waves fit; 0: none.
template <class Waves> unsigned most_for_more(unsigned used, unsigned granule, const Waves &waves_with) {
  const unsigned now = waves_with(used);
  for (unsigned less = round_up(used, granule); less > granule;) {
    less -= granule;
    if (waves_with(less) > now)
      return less;
  }
  return 0;
}

} // namespace

Occupancy occupancy_of(const CodeResources &resources, unsigned lds, unsigned waves) {
  Occupancy occupancy{nereid::occupancy(resources.vgpr, lds, waves), waves, {}};
  const auto by_registers = [&](unsigned vgpr) { return nereid::occupancy(vgpr, 0, waves); };
  const auto by_lds = [&](unsigned bytes) { return nereid::occupancy(0, bytes, waves); };

  OccupancyLimit registers{"vector registers", by_registers(resources.vgpr),
                           fmt::format("{} of {} registers a lane of the SIMD, in steps of {}",
                                       resources.vgpr, sim::vector_registers, sim::vector_register_granule),
                           "", most_for_more(resources.vgpr, sim::vector_register_granule, by_registers)};
  if (registers.next)
    registers.remedy =
        fmt::format("at most {} registers: {} waves a SIMD", registers.next, by_registers(registers.next));
  OccupancyLimit memory{
      "LDS", by_lds(lds),
      fmt::format("{} of {} bytes a workgroup, in steps of {}", lds, sim::max_lds, sim::lds_granule), "",
      most_for_more(lds, sim::lds_granule, by_lds)};
  if (memory.next)
    memory.remedy = fmt::format("at most {} bytes: {} waves a SIMD", memory.next, by_lds(memory.next));
  const unsigned slots = nereid::occupancy(0, 0, waves);
  occupancy.limits = {
      registers,
      memory,
      {"wave slots", slots,
       fmt::format("{} slots a SIMD, whole workgroups of {} waves", sim::timing::waves_of_simd, waves), ""}};
  std::stable_sort(occupancy.limits.begin(), occupancy.limits.end(),
                   [](const OccupancyLimit &a, const OccupancyLimit &b) { return a.waves < b.waves; });
  return occupancy;
}

} // namespace nereid::inspect
