#pragma once

#include <cstdint>
#include <optional>

namespace nereid::sim::timing {

/// What one workgroup moves between memory and its compute unit.
struct WorkgroupBytes {
  double loads = 0, stores = 0;
};

/// What one workgroup of a launch executed, in wave instructions.
struct WorkgroupCounts {
  uint64_t longest_wave = 0; ///< of all kinds, of the wave with the most
  uint64_t loads = 0;        ///< from memory, of all waves
  uint64_t stores = 0;       ///< to memory, and atomics
  uint64_t products = 0;     ///< MFMAs
  /// Where it was traced: of rows that do not exist, loads are executed too.
  std::optional<WorkgroupBytes> bytes;
};

} // namespace nereid::sim::timing
