#pragma once

#include <cstdint>
#include <string>

namespace nereid {

/// What a compiled kernel takes of a compute unit, from its code object's metadata.
struct Resources {
  unsigned vgpr = 0;      ///< vector registers a lane, architected and accumulation ones together
  unsigned agpr = 0;      ///< of these, accumulation registers
  unsigned sgpr = 0;      ///< scalar registers a wave
  unsigned lds = 0;       ///< bytes a workgroup
  unsigned scratch = 0;   ///< bytes a lane
  unsigned spills = 0;    ///< vector and scalar registers spilled
  unsigned occupancy = 0; ///< waves that a SIMD holds at once, 1 to 8

  bool operator==(const Resources &) const = default;
};

/// The members by the names under which they are printed and stored, in order.
struct ResourceField {
  const char *name;
  unsigned Resources::*member;
};
inline constexpr ResourceField resource_fields[] = {
    {"vgpr", &Resources::vgpr},          {"agpr", &Resources::agpr},
    {"sgpr", &Resources::sgpr},          {"lds", &Resources::lds},
    {"scratch", &Resources::scratch},    {"spills", &Resources::spills},
    {"occupancy", &Resources::occupancy}};

/// Waves a SIMD of gfx950 holds: bounded by 512 registers in granules of 8, 8 slots a SIMD, 160 KiB of LDS a
/// compute unit in granules of 1280 bytes, whole workgroups over 4 SIMDs. 0 when one workgroup does not fit.
/// vgprs counts architected and accumulation registers, lds bytes a workgroup, waves those of a workgroup.
unsigned occupancy(unsigned vgprs, unsigned lds, unsigned waves);

/// {"vgpr": .., "agpr": .., "sgpr": .., "lds": .., "scratch": .., "spills": .., "occupancy": ..}
std::string to_json(const Resources &resources);

} // namespace nereid
