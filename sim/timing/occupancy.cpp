// How many workgroups share a compute unit.

#include "sim/timing/occupancy.h"

#include <algorithm>

#include "sim/state/isa_limits.h"
#include "sim/timing/constants.h"

namespace nereid::sim::timing {

unsigned workgroups_of_unit(const LaunchState &state) {
  // The descriptor's granules say how many registers the hardware gives a wave.
  const unsigned registers = ((state.kernel->rsrc1 & 63) + 1) * vector_register_granule;
  const unsigned waves_of_a_simd = std::min(waves_of_simd, vector_registers / registers);
  const unsigned waves_on_busiest_simd = (state.wave_count + simd_count - 1) / simd_count;
  unsigned groups = state.wave_count % simd_count == 0 ? waves_of_a_simd / waves_on_busiest_simd
                                                       : waves_of_a_simd * simd_count / state.wave_count;
  if (state.lds_size) {
    const unsigned lds = (state.lds_size + lds_granule - 1) / lds_granule * lds_granule;
    groups = std::min(groups, max_lds / lds);
  }
  return std::max(groups, 1u);
}

} // namespace nereid::sim::timing
