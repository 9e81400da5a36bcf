#include "sim/shadow/wave.h"

#include <algorithm>

namespace nereid::sim {

void ShadowWave::reset(bool undefined, unsigned last) {
  const uint32_t word = undefined ? ~uint32_t{0} : 0;
  for (unsigned p = 0; p < shadow_plane_count; ++p) {
    const uint32_t value = p == 0 ? word : 0;
    for (unsigned reg = 0; reg <= last; ++reg)
      if (p == 0 || used[p])
        std::fill_n(plane[p].vgpr[reg].word, lane_count, value);
    plane[p].sgpr.fill(value);
    for (unsigned reg : {scalar::exec, scalar::exec + 1})
      plane[p].sgpr[reg] = 0;
    used[p] = p == 0 && undefined;
  }
  std::fill_n(tainted.begin(), last + 1, undefined ? ~uint64_t{0} : 0);
  scalar_tainted = undefined ? std::array{~uint64_t{0}, ~uint64_t{0} >> 2} : std::array<uint64_t, 2>{};
  scc = undefined;
}

void ShadowWave::define_scalar(unsigned reg) {
  for (Wave &wave : plane)
    wave.sgpr[reg] = 0;
  scalar_tainted[reg / 64] &= ~(uint64_t{1} << reg % 64);
}

void ShadowWave::define(unsigned reg, uint64_t lanes, uint32_t bits) {
  lanes &= tainted[reg];
  if (!lanes)
    return;
  if (bits == ~uint32_t{0} && lanes == tainted[reg]) {
    for (unsigned p = 0; p < shadow_plane_count; ++p)
      if (used[p])
        std::fill_n(plane[p].vgpr[reg].word, lane_count, 0);
    tainted[reg] = 0;
    return;
  }
  uint32_t keep[lane_count];
  for (unsigned lane = 0; lane < lane_count; ++lane)
    keep[lane] = lanes >> lane & 1 ? ~bits : ~uint32_t{0};
  for (unsigned p = 0; p < shadow_plane_count; ++p)
    if (used[p])
      for (unsigned lane = 0; lane < lane_count; ++lane)
        plane[p].vgpr[reg].word[lane] &= keep[lane];
  if (bits == ~uint32_t{0})
    tainted[reg] &= ~lanes;
  else
    refresh(reg);
}

void ShadowWave::refresh(unsigned reg) {
  uint32_t any[lane_count] = {};
  for (unsigned p = 0; p < shadow_plane_count; ++p)
    if (used[p])
      for (unsigned lane = 0; lane < lane_count; ++lane)
        any[lane] |= plane[p].vgpr[reg].word[lane];
  uint64_t lanes = 0;
  for (unsigned lane = 0; lane < lane_count; ++lane)
    lanes |= uint64_t{any[lane] != 0} << lane;
  tainted[reg] = lanes;
}

void ShadowWave::refresh_scalar(unsigned reg) {
  uint32_t any = 0;
  for (const Wave &wave : plane)
    any |= wave.sgpr[reg];
  const uint64_t bit = uint64_t{1} << reg % 64;
  scalar_tainted[reg / 64] = any ? scalar_tainted[reg / 64] | bit : scalar_tainted[reg / 64] & ~bit;
}

void ShadowWave::follow_exec(const Wave &wave) {
  for (Wave &p : plane) {
    p.sgpr[scalar::exec] = wave.sgpr[scalar::exec];
    p.sgpr[scalar::exec + 1] = wave.sgpr[scalar::exec + 1];
    p.exec_mask = wave.exec_mask;
  }
}

} // namespace nereid::sim
