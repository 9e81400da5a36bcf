#pragma once

#include <span>

#include "sim/run/workgroup_sampler.h"
#include "sim/timing/compute_unit.h"
#include "sim/timing/launch_profile.h"
#include "sim/timing/replay_observer.h"

namespace nereid::sim {

/// A launch whose workgroups differ, as causal attention's or those of a triangle do: what each executed, and
/// two of them that were traced. What a workgroup takes is linear in what it executed, through the two, and
/// in proportion beyond the longest; what it moves too, where it is not known.
struct UnevenLaunch {
  std::span<const timing::WorkgroupCounts> counts; ///< of all workgroups, in the order of dispatch
  const TracedWorkgroup &shortest, &longest;
  unsigned places; ///< workgroups that a compute unit holds
};

/// Of all workgroups of a launch together.
timing::WorkgroupBytes bytes_of(const UnevenLaunch &launch);

/// Whether all workgroups are about like those of rounds in which each compute unit has one workgroup like
/// the longest and else such as the first: then these rounds tell the time. Within 5 %.
bool is_even(std::span<const timing::WorkgroupCounts> counts, const timing::WorkgroupCounts &first,
             const timing::WorkgroupCounts &longest, uint64_t places_of_device);

/// The whole launch as one round: its cycles are those of a schedule of the workgroups over the places
/// (workgroup_schedule.h), its bytes and flop those of all workgroups. The shares are of the loaded bytes.
/// `observer` sees workgroups like the longest share a compute unit.
struct UnevenRound {
  RoundProfile round;
  double longest_cycles = 0; ///< from the first to the last instruction of the longest workgroup
};
UnevenRound profile_uneven(const UnevenLaunch &launch, const Program &program, timing::MemoryLatency latency,
                           double fetched_share, double hbm_share,
                           timing::ReplayObserver *observer = nullptr);

} // namespace nereid::sim
