#pragma once

#include <cstdint>
#include <vector>

#include "sim/state/instruction.h"
#include "sim/state/memory_access.h"

namespace nereid::sim::timing {

/// Where the lines of an access are found.
enum class Level : uint8_t { FirstCache, L2, Memory };

/// What one memory instruction of a wave needs of the units of its compute unit.
struct TracedAccess {
  uint32_t bytes = 0;        ///< of memory lines that the request moves, or of the LDS
  uint16_t requests = 0;     ///< to the first cache
  uint16_t missed_lines = 0; ///< that the first cache does not have
  uint16_t lds_clocks = 0;   ///< of the banks
  Level level = Level::L2;   ///< of its farthest line
  bool memory = false;       ///< touches memory (perhaps as well as the LDS)
  bool device_scope = false; ///< passes the L2 of the XCD
};

/// What a wave executed, in order.
struct TraceEvent {
  uint32_t instruction = 0; ///< index in the program
  uint32_t access = 0;      ///< index in WorkgroupTrace::accesses plus one; 0: none
};

/// What one workgroup executed.
struct WorkgroupTrace {
  std::vector<std::vector<TraceEvent>> waves;
  std::vector<TracedAccess> accesses;
  uint64_t instructions = 0;
};

} // namespace nereid::sim::timing
