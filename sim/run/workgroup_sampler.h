#pragma once

#include <optional>
#include <vector>

#include "sim/run/workgroup.h"
#include "sim/timing/trace_recorder.h"
#include "sim/timing/trace_totals.h"
#include "sim/timing/undo_log.h"

namespace nereid::sim {

/// A workgroup that stands for others.
struct TracedWorkgroup {
  timing::WorkgroupTrace trace;
  timing::TraceTotals totals;
};

/// Executes some workgroups of a launch and keeps what they tell of all. Until it ends they see what those
/// before them wrote; then memory is as it was.
class WorkgroupSampler {
public:
  /// `sharing`: workgroups of a compute unit. A workgroup that takes too many instructions to be timed is a
  /// fault (Budget), or its trace ends there where `may_cut`.
  WorkgroupSampler(LaunchState &state, uint64_t sharing, bool may_cut);

  /// Executes the first workgroups of the launch: the first one to its end, others too where they are short.
  std::optional<Fault> run(uint64_t most_workgroups);
  /// Executes one more.
  std::optional<Fault> trace(uint64_t id, TracedWorkgroup &result);

  const TracedWorkgroup &first() const { return first_; }
  /// Of those that ran to their ends.
  const TracedWorkgroup &longest() const { return longest_ ? *longest_ : first_; }
  /// What each workgroup executed; empty unless all workgroups of the launch ran to their ends.
  const std::vector<timing::WorkgroupCounts> &counts() const { return counts_; }
  const WorkgroupTotals &executed() const { return runner_.totals(); }
  /// Workgroups that were executed to their ends.
  uint64_t executed_workgroups() const { return 1 + ended_.size(); }
  /// Whether workgroups that were executed are neither about like the first nor about like the longest; where
  /// not all were, also the last of the launch, which is executed for it as far as tells. Comes after all
  /// else.
  bool looks_uneven();

  /// Distinct bytes that XCDs fetch, over the bytes that workgroups ask for.
  double fetched_share() const;
  /// Distinct bytes that all workgroups load, where together they load `loaded_bytes`: those of the sample,
  /// scaled by how much of the launch it is, of each allocation not more than it holds.
  double distinct_bytes(double loaded_bytes) const;

private:
  /// A workgroup that takes longer to time than times are worth.
  Fault too_long();
  /// Runs a workgroup for `limit` wave instructions.
  std::optional<Fault> run_part(uint64_t id, uint64_t limit);
  /// Whether a workgroup of so many wave instructions is about like the first or the longest.
  bool is_like_others(double instructions) const;

  LaunchState &state_;
  timing::Footprint footprint_;
  timing::UndoLog overwritten_;
  timing::TraceRecorder recorder_;
  WorkgroupRunner runner_;
  uint64_t traced_; ///< wave instructions that are kept of a workgroup
  bool may_cut_;
  TracedWorkgroup first_;
  std::optional<TracedWorkgroup> longest_;
  std::vector<timing::WorkgroupCounts> counts_;
  uint64_t executed_ = 0;     ///< wave instructions of the workgroups after the first
  std::vector<double> ended_; ///< wave instructions of each workgroup after the first that ran to its end
};

} // namespace nereid::sim
