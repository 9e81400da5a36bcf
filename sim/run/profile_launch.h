#pragma once

#include <optional>
#include <span>

#include "base/result.h"
#include "sim/launch/launch.h"
#include "sim/object/code_object.h"
#include "sim/run/workgroup.h"
#include "sim/state/memory.h"
#include "sim/timing/launch_profile.h"
#include "sim/timing/replay_observer.h"
#include "sim/timing/workgroup_counts.h"

namespace nereid::sim {

/// What executing a few workgroups of a launch told of all of it.
struct ProfiledLaunch {
  LaunchProfile profile;
  std::optional<Fault> fault; ///< of a workgroup that was executed; the profile is then of no use
  WorkgroupTotals executed;
  uint64_t executed_workgroups = 0; ///< to their ends
  bool looks_uneven = false;        ///< they differ, and what the others do is not known
};

/// Executes representative workgroups of a launch, without the products of its MFMAs, replays the first and
/// the longest of them on a model of a compute unit, and scales to the grid. Takes a few million wave
/// instructions at most: of long loops that are steady some iterations stand for the others (loop_skip.h).
///
/// `counts` is what each workgroup of the launch executed, where that is known; it decides then where
/// workgroups differ (uneven_launch.h), and a workgroup that takes too many instructions is scaled by it.
/// Without, such a workgroup is a fault (Budget), and the few that are executed stand for all.
///
/// `observer`, which may be null, sees the first replay of workgroups that share a compute unit.
///
/// `memory` is afterwards what it was. Errors: those of LaunchState::prepare.
Result<ProfiledLaunch> profile_launch(const CodeObject &code, Memory &memory, const Launch &launch,
                                      std::span<const timing::WorkgroupCounts> counts = {},
                                      timing::ReplayObserver *observer = nullptr);

} // namespace nereid::sim
