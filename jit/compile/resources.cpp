// How many waves a SIMD holds at once, and resources as text.
#include "jit/compile/resources.h"

#include <algorithm>

#include <fmt/format.h>

#include "codegen/target/gfx950.h"

namespace nereid {
namespace gfx950 = codegen::gfx950;

static uint64_t round_up(uint64_t value, uint64_t granule) {
  return (value + granule - 1) / granule * granule;
}

unsigned occupancy(unsigned vgprs, unsigned lds, unsigned waves) {
  // 64 bits: sums and products of any arguments fit.
  const uint64_t group = std::max(waves, 1u);
  const uint64_t by_registers = std::min<uint64_t>(
      gfx950::wave_slots, gfx950::register_file / round_up(std::max(vgprs, 1u), gfx950::register_granule));
  uint64_t workgroups = gfx950::simds * by_registers / group;
  if (lds)
    workgroups = std::min(workgroups, gfx950::lds_bytes / round_up(lds, gfx950::lds_granule));
  // Waves of few workgroups need not spread evenly; the fullest SIMD counts.
  return static_cast<unsigned>(
      std::min(by_registers, (workgroups * group + gfx950::simds - 1) / gfx950::simds));
}

std::string to_json(const Resources &resources) {
  std::string text;
  for (const ResourceField &field : resource_fields)
    text += fmt::format("{}\"{}\": {}", text.empty() ? "{" : ", ", field.name, resources.*field.member);
  return text + "}";
}

} // namespace nereid
