// Representative workgroups of a launch: executes them, and scales what they need to the grid.

#include "sim/run/profile_launch.h"

#include <algorithm>

#include "sim/timing/compute_unit.h"
#include "sim/timing/constants.h"
#include "sim/timing/device_model.h"
#include "sim/timing/occupancy.h"
#include "sim/timing/trace_recorder.h"

namespace nereid::sim {

namespace {

using timing::Footprint;
using timing::TraceRecorder;
using timing::WorkgroupTrace;

/// Wave instructions of all workgroups after the first that are executed to see which lines they share, and
/// the least of one of them, which covers a prologue and some steps of a loop.
constexpr uint64_t sampled_instructions = 1'500'000;
constexpr uint64_t least_instructions = 3'000;
/// A workgroup that executes so much more than the first is replayed as the one that ends last.
constexpr double longer = 1.05;

/// Executes workgroups and keeps what they tell.
class Sampler {
public:
  explicit Sampler(LaunchState &state)
      : state_(state), recorder_(state.memory, footprint_), runner_(state, &recorder_) {}

  std::optional<Fault> run(uint64_t most_workgroups) {
    recorder_.keep_traces(true);
    if (auto fault = runner_.run(0))
      return fault;
    first_ = recorder_.take_trace();
    first_bytes_ = footprint_.requested_bytes;
    first_stored_ = footprint_.stored_bytes;
    sampled_ = std::min(state_.group_count, most_workgroups);
    const uint64_t limit = std::max(least_instructions, sampled_instructions / sampled_);
    whole_ = first_.instructions <= limit;
    recorder_.keep_traces(whole_);
    for (uint64_t id = 1; id < sampled_; ++id)
      if (auto fault = run_one(id, limit))
        return fault;
    return std::nullopt;
  }

  const WorkgroupTrace &first() const { return first_; }
  const WorkgroupTrace &longest() const { return longest_.instructions ? longest_ : first_; }
  const WorkgroupTotals &executed() const { return runner_.totals(); }

  /// Distinct lines that XCDs fetch, over the lines that workgroups ask for.
  double fetched_share() const { return share(static_cast<double>(footprint_.fetched_bytes())); }
  /// Distinct bytes that all workgroups of the grid load: those of the sample, scaled by how much of the grid
  /// it is, of each allocation not more than it holds.
  double distinct_bytes() const {
    const double groups = static_cast<double>(state_.group_count);
    const double scale = groups * static_cast<double>(first_bytes_) /
                         std::max(1.0, static_cast<double>(footprint_.requested_bytes));
    double sum = 0;
    for (const auto &[address, bytes] : footprint_.block_bytes) {
      const Block *block = state_.memory.find(address, 0);
      const double size = block ? static_cast<double>(block->size()) : 0;
      sum += std::min(static_cast<double>(bytes) * std::max(1.0, scale),
                      std::max(size, double{timing::line_bytes}));
    }
    return sum;
  }
  double loaded_bytes() const { return static_cast<double>(first_bytes_ * state_.group_count); }
  double stored_bytes() const { return static_cast<double>(first_stored_ * state_.group_count); }

private:
  double share(double bytes) const {
    return footprint_.requested_bytes ? bytes / static_cast<double>(footprint_.requested_bytes) : 0;
  }

  std::optional<Fault> run_one(uint64_t id, uint64_t limit) {
    runner_.begin(id);
    uint64_t executed = 0;
    while (!runner_.ended() && (whole_ || executed < limit)) {
      constexpr uint64_t slice = 8;
      if (auto fault = runner_.advance(slice))
        return fault;
      executed += slice;
    }
    if (!whole_)
      return std::nullopt;
    WorkgroupTrace trace = recorder_.take_trace();
    if (static_cast<double>(trace.instructions) > longer * static_cast<double>(longest().instructions))
      longest_ = std::move(trace);
    return std::nullopt;
  }

  LaunchState &state_;
  Footprint footprint_;
  TraceRecorder recorder_;
  WorkgroupRunner runner_;
  WorkgroupTrace first_, longest_;
  uint64_t first_bytes_ = 0, first_stored_ = 0;
  uint64_t sampled_ = 0;
  bool whole_ = true; ///< the workgroups after the first run to their ends
};

/// A round of workgroups: replays what shares a compute unit.
RoundProfile profile_round(const Sampler &sampler, const LaunchState &state, uint64_t workgroups,
                           unsigned memory_latency, double hbm_share, LaunchProfile &profile) {
  RoundProfile round;
  round.workgroups = workgroups;
  round.compute_units = std::min<uint64_t>(workgroups, timing::compute_units);
  const uint64_t sharing = (workgroups + timing::compute_units - 1) / timing::compute_units;
  std::vector<const WorkgroupTrace *> traces(sharing, &sampler.first());
  traces.front() = &sampler.longest();
  const Program &program = state.code->program();
  const bool code_is_cached = state.launch->caches != CacheState::Cold;
  timing::UnitTime unit = timing::replay(traces, program, {memory_latency, code_is_cached});
  round.stalls = std::move(unit.stalls);
  round.phases = unit.phases;
  profile.cycles_per_workgroup = unit.workgroup_cycles;
  // The units with the most workgroups end last; what all of them move is less.
  const double groups = static_cast<double>(workgroups) / static_cast<double>(sharing);
  for (PhaseProfile &phase : round.phases) {
    phase.fabric_bytes = phase.load_bytes * groups * sampler.fetched_share() / xcd_count;
    phase.hbm_bytes = phase.load_bytes * groups * hbm_share;
    phase.store_bytes *= groups / static_cast<double>(round.compute_units);
    phase.matrix_flop *= groups / static_cast<double>(round.compute_units);
  }
  return round;
}

} // namespace

Result<ProfiledLaunch> profile_launch(const CodeObject &code, Memory &memory, const Launch &launch) {
  NEREID_TRY(const auto state, LaunchState::prepare(code, memory, launch));
  state->compute_products = false;
  const uint64_t places = uint64_t{timing::compute_units} * timing::workgroups_of_unit(*state);
  ProfiledLaunch result;
  Sampler sampler(*state);
  result.fault = sampler.run(std::min<uint64_t>(places, 2 * timing::compute_units));
  result.executed = sampler.executed();
  if (result.fault)
    return result;
  LaunchProfile &profile = result.profile;
  const double distinct = sampler.distinct_bytes();
  profile.footprint_bytes = distinct + sampler.stored_bytes();
  const double hbm_share = sampler.loaded_bytes() > 0 ? distinct / sampler.loaded_bytes() : 0;
  const double in_mall = share_in_mall(launch.caches, profile.footprint_bytes);
  const auto latency =
      static_cast<unsigned>(timing::hbm_latency - in_mall * (timing::hbm_latency - timing::mall_latency));
  if (state->group_count >= places) {
    profile.rounds.push_back(profile_round(sampler, *state, places, latency, hbm_share, profile));
    profile.rounds.back().repeats = state->group_count / places;
  }
  if (const uint64_t rest = state->group_count % places)
    profile.rounds.push_back(profile_round(sampler, *state, rest, latency, hbm_share, profile));
  return result;
}

} // namespace nereid::sim
