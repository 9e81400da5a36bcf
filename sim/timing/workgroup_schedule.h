#pragma once

#include <span>

namespace nereid::sim::timing {

/// A workgroup that waits for a place.
struct ScheduledWorkgroup {
  double clocks = 0;     ///< from its first to its last instruction, alone on a compute unit
  double load_bytes = 0; ///< that it loads
};

/// How compute units run workgroups.
struct UnitSharing {
  unsigned places = 1; ///< workgroups that a compute unit holds
  double slowdown = 1; ///< by which each of them takes longer when all places are taken
};

/// When the workgroups of a launch have ended.
struct WorkgroupSchedule {
  double clocks = 0;          ///< until the last has ended
  double longest = 0;         ///< from the start to the end of the one that took longest
  double most_unit_bytes = 0; ///< loaded by the compute unit that loads most
};

/// Dispatches workgroups of unequal length, in order: the i-th goes to XCD i % 8, there to the compute unit
/// with the fewest workgroups as soon as one has a free place. Workgroups that share a unit slow each other
/// down, in proportion to how many they are. O(workgroups).
WorkgroupSchedule schedule(std::span<const ScheduledWorkgroup> workgroups, UnitSharing sharing);

} // namespace nereid::sim::timing
