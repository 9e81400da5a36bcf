#pragma once

#include <cstdint>

namespace nereid::sim::timing {

/// What one workgroup of a launch executed, in wave instructions.
struct WorkgroupCounts {
  uint64_t longest_wave = 0; ///< of all kinds, of the wave with the most
  uint64_t loads = 0;        ///< from memory, of all waves
  uint64_t stores = 0;       ///< to memory, and atomics
  uint64_t products = 0;     ///< MFMAs
};

} // namespace nereid::sim::timing
