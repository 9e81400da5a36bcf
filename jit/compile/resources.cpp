// How many waves a SIMD holds at once, and resources as text.
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

uint64_t round_up(uint64_t value, uint64_t granule) { return (value + granule - 1) / granule * granule; }

} // namespace

unsigned occupancy(unsigned vgprs, unsigned lds, unsigned waves) {
  // 64 bits: sums and products of any arguments fit.
  const uint64_t group = std::max(waves, 1u);
  const uint64_t by_registers = std::min<uint64_t>(
      slots_per_simd, registers_per_lane / round_up(std::max(vgprs, 1u), register_granule));
  uint64_t workgroups = simds * by_registers / group;
  if (lds)
    workgroups = std::min(workgroups, lds_bytes / round_up(lds, lds_granule));
  // Waves of few workgroups need not spread evenly; the fullest SIMD counts.
  return static_cast<unsigned>(std::min(by_registers, (workgroups * group + simds - 1) / simds));
}

std::string to_json(const Resources &resources) {
  std::string text;
  for (const ResourceField &field : resource_fields)
    text += fmt::format("{}\"{}\": {}", text.empty() ? "{" : ", ", field.name, resources.*field.member);
  return text + "}";
}

} // namespace nereid
