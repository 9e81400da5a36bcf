#include "jit/compile/resources.h"

#include <algorithm>

#include <fmt/format.h>

namespace nereid {
namespace {

// AMD CDNA4 ISA 3.6.4, 3.6.5: register and LDS allocation; wave slots: 8 a SIMD.
constexpr unsigned registers_per_lane = 512;
constexpr unsigned register_granule = 8;
constexpr unsigned slots_per_simd = 8;
constexpr unsigned simds = 4;
constexpr unsigned lds_bytes = 160 * 1024;
constexpr unsigned lds_granule = 1280;

unsigned round_up(unsigned value, unsigned granule) { return (value + granule - 1) / granule * granule; }

} // namespace

unsigned occupancy(unsigned vgprs, unsigned lds, unsigned waves) {
  waves = std::max(waves, 1u);
  const unsigned by_registers = std::min(
      slots_per_simd, registers_per_lane / std::max(round_up(vgprs, register_granule), register_granule));
  unsigned workgroups = simds * by_registers / waves;
  if (lds)
    workgroups = std::min(workgroups, lds_bytes / round_up(lds, lds_granule));
  // Waves of few workgroups need not spread evenly; the fullest SIMD counts.
  return std::min(by_registers, (workgroups * waves + simds - 1) / simds);
}

std::string to_json(const Resources &r) {
  return fmt::format(R"({{"vgpr": {}, "agpr": {}, "sgpr": {}, "lds": {}, "scratch": {}, "spills": {}, )"
                     R"("occupancy": {}}})",
                     r.vgpr, r.agpr, r.sgpr, r.lds, r.scratch, r.spills, r.occupancy);
}

} // namespace nereid
