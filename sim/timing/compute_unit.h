#pragma once

#include <array>
#include <map>
#include <span>
#include <string>

#include "sim/decode/program.h"
#include "sim/timing/launch_profile.h"
#include "sim/timing/memory_pipe.h"
#include "sim/timing/replay_observer.h"
#include "sim/timing/trace.h"

namespace nereid::sim::timing {

/// What the workgroups of one compute unit took.
struct UnitTime {
  std::array<PhaseProfile, 3> phases;   ///< by RoundProfile::Phase; without the bytes of XCD and device
  std::map<std::string, double> stalls; ///< clocks of waves by reason
  double workgroup_cycles = 0; ///< from the first to the last instruction of the one that takes longest
};

/// Replays the traces of workgroups that share a compute unit: four SIMDs that issue in order, one
/// instruction of each kind a turn; matrix cores; the LDS with its queues and banks; the vector memory pipe;
/// wait counters and barriers. Memory answers after its latency, whatever is in flight: what
/// many requests cost is the device model's (device_model.h).
/// Where traces have samples of loops, what the samples take is counted as often as they stand for: the
/// difference to a replay without them. `observer`, which may be null, sees the replay with them.
UnitTime replay(std::span<const WorkgroupTrace *const> workgroups, const Program &program,
                MemoryLatency latency, ReplayObserver *observer = nullptr);

} // namespace nereid::sim::timing
