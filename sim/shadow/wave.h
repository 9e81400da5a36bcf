#pragma once

#include <array>
#include <cstdint>

#include "sim/state/wave.h"

namespace nereid::sim {

/// What a shadow bit says of the bit of a register or of memory that it stands for.
enum class ShadowPlane : uint8_t {
  Undefined, ///< nothing wrote it, or it was copied from or computed out of such bits
  Computed,  ///< a subset of those: they went through arithmetic
  NanScale,  ///< depends on the product of an e8m0 NaN scale
};
inline constexpr unsigned shadow_plane_count = 3;
inline constexpr ShadowPlane shadow_planes[] = {ShadowPlane::Undefined, ShadowPlane::Computed,
                                                ShadowPlane::NanScale};
constexpr unsigned index_of(ShadowPlane plane) { return static_cast<unsigned>(plane); }

/// The shadow bits of one wave's registers: each plane has the shape of a wave, so that instructions which
/// only move data can be executed on it. A shadow bit has the position of the bit that it stands for.
struct ShadowWave {
  Wave plane[shadow_plane_count];
  /// Lanes with a shadow bit set in some plane, by vector register. In other lanes the words are zero.
  std::array<uint64_t, vector_registers> tainted{};
  /// Scalar registers with a shadow bit set in some plane, one bit a register.
  std::array<uint64_t, 2> scalar_tainted{};
  uint8_t scc = 0; ///< one bit a plane
  /// Whether some vector register may have a shadow bit set in that plane.
  std::array<bool, shadow_plane_count> used{};

  Wave &operator[](ShadowPlane which) { return plane[index_of(which)]; }
  bool &uses(ShadowPlane which) { return used[index_of(which)]; }
  uint32_t *words(ShadowPlane which, unsigned reg) { return (*this)[which].vgpr[reg].word; }
  uint32_t scalar(ShadowPlane which, unsigned reg) const { return plane[index_of(which)].sgpr[reg]; }
  bool scc_is_tainted(ShadowPlane which) const { return scc >> index_of(which) & 1; }

  /// Everything undefined (or nothing, when that is not looked for), vector registers up to `last`.
  void reset(bool undefined, unsigned last);
  void define_scalar(unsigned reg);
  /// Clears the shadow bits of some bits of the words of some lanes.
  void define(unsigned reg, uint64_t lanes, uint32_t bits);
  /// Finds the tainted lanes again after the words of a register changed.
  void refresh(unsigned reg);
  void refresh_scalar(unsigned reg);
  /// Gives the planes the active lanes of the wave.
  void follow_exec(const Wave &wave);
};

} // namespace nereid::sim
