#pragma once

#include <array>
#include <cstdint>

#include "sim/state/wave.h"

namespace nereid::sim {

/// What a bit of a register or of memory can be marked with.
enum class Plane : uint8_t {
  Undefined, ///< nothing wrote it, or it was copied from or computed out of such bits
  Computed,  ///< a subset of those: they went through arithmetic
  NanScale,  ///< depends on the product of an e8m0 NaN scale
};
inline constexpr unsigned plane_count = 3;

/// The marks on one wave's registers: each plane has the shape of a wave, so that instructions which only
/// move data can be executed on it. A mark's bit lies where the data's bit lies.
struct ShadowWave {
  Wave plane[plane_count];
  /// Lanes with a mark in some plane, by vector register. Without one, the words of the lane are zero.
  std::array<uint64_t, vector_registers> marked{};
  /// Scalar registers with a mark in some plane, one bit a register.
  std::array<uint64_t, 2> scalar_marked{};
  uint8_t scc = 0; ///< one bit a plane
  /// Whether some register may have a mark in that plane.
  std::array<bool, plane_count> used{};

  Wave &operator[](Plane which) { return plane[static_cast<unsigned>(which)]; }
  uint32_t *words(Plane which, unsigned reg) { return (*this)[which].vgpr[reg].word; }
  uint32_t scalar(Plane which, unsigned reg) const { return plane[static_cast<unsigned>(which)].sgpr[reg]; }
  bool marks(Plane which, unsigned reg) const { return plane[static_cast<unsigned>(which)].sgpr[reg & 127]; }
  bool scc_has(Plane which) const { return scc >> static_cast<unsigned>(which) & 1; }

  /// Everything undefined (or nothing, when that is not looked for), vector registers up to `last`.
  void reset(bool undefined, unsigned last);
  void define_scalar(unsigned reg);
  /// Removes the marks from some bits of the words of some lanes.
  void define(unsigned reg, uint64_t lanes, uint32_t bits);
  /// Finds the marked lanes again after the words of a register changed.
  void refresh(unsigned reg);
  void refresh_scalar(unsigned reg);
  /// Gives the planes the active lanes of the wave.
  void follow_exec(const Wave &wave);
};

} // namespace nereid::sim
