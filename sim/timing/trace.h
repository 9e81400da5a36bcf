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

/// Iterations of a wave's loop that stand for others, which its trace does not have.
struct LoopSample {
  size_t first = 0, last = 0; ///< events of the iterations
  double iterations = 0;      ///< in those events
  double skipped = 0;         ///< that the trace does not have
  double jumped = 0;          ///< of these those that were not executed
  /// How often more the events of the sample count.
  double times() const { return iterations > 0 ? skipped / iterations : 0; }
};

/// What one workgroup executed.
struct WorkgroupTrace {
  std::vector<std::vector<TraceEvent>> waves;
  std::vector<LoopSample> samples; ///< one a wave; empty: the trace has all
  std::vector<TracedAccess> accesses;
  uint64_t instructions = 0;
};

} // namespace nereid::sim::timing
