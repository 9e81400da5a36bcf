#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sim/launch/launch_state.h"
#include "sim/object/code_object.h"
#include "sim/run/machine.h"
#include "sim/state/checker.h"
#include "sim/state/wave.h"

namespace nereid::sim {

/// Sums over the workgroups that one host thread ran.
struct WorkgroupTotals {
  std::array<uint64_t, category_count> counts{};
  uint64_t waves = 0;
  uint64_t longest = 0;

  void add(const WorkgroupTotals &other);
  /// Counts and waves; no fault and no time.
  Report report() const;
};

/// Runs workgroups one after the other; its waves and their registers are reused.
class WorkgroupRunner {
public:
  /// `checker` may be null; it sees every instruction of the workgroups that this object runs.
  WorkgroupRunner(LaunchState &state, Checker *checker);
  /// A runner at the same point of the same workgroup, on a copy of the launch and with a copy of the
  /// checker.
  WorkgroupRunner(LaunchState &copy, const WorkgroupRunner &other, Checker *checker);
  WorkgroupRunner(const WorkgroupRunner &) = delete;
  WorkgroupRunner &operator=(const WorkgroupRunner &) = delete;

  /// Runs the workgroup of that linear id to its end, or returns its fault.
  std::optional<Fault> run(uint64_t linear_id);

  /// The same in parts: sets up a workgroup,
  void begin(uint64_t linear_id);
  /// and executes at most `limit` instructions of the wave whose turn it is, or returns the fault.
  std::optional<Fault> advance(uint64_t limit);
  /// Whether all waves have ended. Else one of them can go on, or a fault was returned.
  bool ended() const { return ended_; }
  /// The wave whose turn it is.
  Wave &current() { return *waves_[turn_]; }
  std::span<const std::unique_ptr<Wave>> waves() const { return waves_; }
  const Workgroup &group() const { return group_; }
  const WorkgroupTotals &totals() const { return totals_; }

private:
  void prepare(uint64_t linear_id);
  void prepare_wave(Wave &wave);
  void prepare_scalars(Wave &wave);
  /// Executes a wave until it stops, or for a number of instructions. Returns how many it executed.
  template <bool Checked> uint64_t execute(Wave &wave, uint64_t limit);
  /// Gives the turn to the next wave that can go on.
  std::optional<Fault> pass_turn();
  /// After a round in which no wave could go on: the workgroup ends, or passes a barrier.
  std::optional<Fault> finish_round();
  /// Lets the workgroup execute some more instructions; false when the launch's budget is used up. A launch
  /// of several host threads ends by its budget exactly if all that it executes is more, whichever thread
  /// finds that; it may have executed somewhat more by then.
  bool renew_allowance();
  /// Adds what this workgroup executed to the launch's count, and returns that.
  uint64_t count_executed();
  Fault budget_fault(const Wave &wave) const;
  Fault describe(const Wave &wave, const RaisedFault &raised) const;

  LaunchState &state_;
  const Program &program_;
  Checker *checker_;
  Workgroup group_;
  std::vector<std::unique_ptr<Wave>> waves_;
  std::vector<std::byte> scratch_;
  WorkgroupTotals totals_;
  size_t turn_ = 0;         ///< index of the wave whose turn it is
  uint64_t slice_left_ = 0; ///< instructions until the next wave gets its turn
  bool ended_ = false;
  uint64_t uncounted_ = 0; ///< instructions executed and not yet in the launch's count
  uint64_t allowance_ = 0; ///< instructions until the launch's count is looked at again
  unsigned registers_ = 0;
};

} // namespace nereid::sim
