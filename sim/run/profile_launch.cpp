// Representative workgroups of a launch: executes them, and scales what they need to the grid.

#include "sim/run/profile_launch.h"

#include <algorithm>

#include <fmt/format.h>

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
/// Wave instructions of the workgroups that share a compute unit which are kept as traces, of one at least so
/// many; lines that are kept; and wave instructions that a workgroup may execute in addition. Together less
/// than a second and a gigabyte.
constexpr uint64_t traced_instructions = 1'000'000, least_traced_instructions = 60'000;
constexpr size_t most_lines = size_t{1} << 21;
constexpr uint64_t untraced_instructions = 2'000'000;
/// No further workgroup is looked at after so many, where those after the first do more than it.
constexpr uint64_t most_sampled = 2 * sampled_instructions;
/// A workgroup that executes so much more than the first is replayed as the one that ends last.
constexpr double longer = 1.05;

/// Executes workgroups and keeps what they tell.
class Sampler {
public:
  /// `sharing`: workgroups of a compute unit.
  Sampler(LaunchState &state, uint64_t sharing)
      : state_(state), recorder_(state.memory, footprint_), runner_(state, &recorder_),
        traced_(std::max(traced_instructions / sharing, least_traced_instructions)) {}

  std::optional<Fault> run(uint64_t most_workgroups) {
    recorder_.keep_traces(true);
    if (auto fault = run_first())
      return fault;
    first_bytes_ = static_cast<double>(footprint_.requested_bytes);
    first_stored_ = static_cast<double>(footprint_.stored_bytes);
    count_skipped();
    sampled_ = std::min(state_.group_count, most_workgroups);
    const uint64_t limit = std::max(least_instructions, sampled_instructions / sampled_);
    whole_ = first_.instructions <= limit;
    recorder_.keep_traces(whole_);
    for (uint64_t id = 1; id < sampled_ && recorder_.lines() < most_lines && executed_ < most_sampled; ++id)
      if (auto fault = run_one(id, limit))
        return fault;
    return std::nullopt;
  }

  const WorkgroupTrace &first() const { return first_; }
  const WorkgroupTrace &longest() const { return longest_.instructions ? longest_ : first_; }
  const WorkgroupTotals &executed() const { return runner_.totals(); }
  /// Of a workgroup, those that were passed over included.
  double instructions() const { return instructions_; }
  double longest_wave() const { return longest_wave_; }

  /// Distinct lines that XCDs fetch, over the lines that workgroups ask for.
  double fetched_share() const { return share(static_cast<double>(footprint_.fetched_bytes())); }
  /// Distinct bytes that all workgroups of the grid load: those of the sample, scaled by how much of the grid
  /// it is, of each allocation not more than it holds.
  double distinct_bytes() const {
    const double groups = static_cast<double>(state_.group_count);
    const double scale =
        groups * first_bytes_ / std::max(1.0, static_cast<double>(footprint_.requested_bytes));
    double sum = 0;
    for (const auto &[address, bytes] : footprint_.block_bytes) {
      const Block *block = state_.memory.find(address, 0);
      const double size = block ? static_cast<double>(block->size()) : 0;
      sum += std::min(static_cast<double>(bytes) * std::max(1.0, scale),
                      std::max(size, double{timing::line_bytes}));
    }
    return sum;
  }
  double loaded_bytes() const { return first_bytes_ * static_cast<double>(state_.group_count); }
  double stored_bytes() const { return first_stored_ * static_cast<double>(state_.group_count); }

private:
  double share(double bytes) const {
    return footprint_.requested_bytes ? bytes / static_cast<double>(footprint_.requested_bytes) : 0;
  }

  /// A launch that takes longer to time than times are worth.
  Fault too_long() {
    const Wave &wave = runner_.current();
    const Instruction &instruction = state_.code->program()[wave.current];
    Fault fault;
    fault.kind = FaultKind::Budget;
    fault.address = instruction.address;
    fault.instruction = state_.code->program().text(instruction);
    fault.line = state_.code->line(instruction.address);
    std::copy_n(runner_.group().id, 3, fault.workgroup.begin());
    fault.wave = wave.index;
    fault.text =
        fmt::format("the workgroup executed {} instructions and has not ended, more than a launch is timed "
                    "by; when its loop ends is not to be seen in scalar compares of registers that count "
                    "up or down",
                    recorder_.instructions());
    return fault;
  }

  std::optional<Fault> run_first() {
    runner_.begin(0);
    uint64_t most = traced_;
    bool skips = false;
    while (!runner_.ended()) {
      if (auto fault = runner_.advance(slice))
        return fault;
      if (!skips && (recorder_.instructions() > traced_ || recorder_.lines() > most_lines)) {
        recorder_.skip_loops(state_.code->program());
        skips = true;
        most = recorder_.instructions() + untraced_instructions;
      }
      if (skips && recorder_.instructions() > most)
        return too_long();
    }
    first_ = recorder_.take_trace();
    return std::nullopt;
  }

  /// Adds what the iterations move and execute that the first workgroup's trace does not have.
  void count_skipped() {
    instructions_ = static_cast<double>(first_.instructions);
    double loaded = 0, stored = 0;
    for (size_t w = 0; w < first_.waves.size(); ++w) {
      double of_wave = static_cast<double>(first_.waves[w].size());
      if (w < first_.samples.size() && first_.samples[w].iterations > 0) {
        const timing::LoopSample &sample = first_.samples[w];
        const double events = static_cast<double>(sample.last - sample.first);
        instructions_ += events / sample.iterations * sample.jumped;
        of_wave += events * sample.times();
        for (size_t i = sample.first; i < sample.last; ++i) {
          const timing::TraceEvent &event = first_.waves[w][i];
          const Operation *operation = state_.code->program()[event.instruction].operation;
          if (!event.access || !operation->is_vector_memory())
            continue;
          const bool loads = operation->memory.kind == MemoryForm::Kind::Load;
          (loads ? loaded : stored) += first_.accesses[event.access - 1].bytes * sample.times();
        }
      }
      longest_wave_ = std::max(longest_wave_, of_wave);
    }
    first_bytes_ += loaded;
    first_stored_ += stored;
  }

  std::optional<Fault> run_one(uint64_t id, uint64_t limit) {
    runner_.begin(id);
    uint64_t executed = 0;
    while (!runner_.ended() && (whole_ || executed < limit)) {
      if (auto fault = runner_.advance(slice))
        return fault;
      executed += slice;
      executed_ += slice;
      if (whole_ && recorder_.instructions() > traced_)
        return too_long();
    }
    if (!whole_)
      return std::nullopt;
    WorkgroupTrace trace = recorder_.take_trace();
    // The mean of those that ran to their ends.
    instructions_ += (static_cast<double>(trace.instructions) - instructions_) / static_cast<double>(id + 1);
    for (const auto &events : trace.waves)
      longest_wave_ = std::max(longest_wave_, static_cast<double>(events.size()));
    if (static_cast<double>(trace.instructions) > longer * static_cast<double>(longest().instructions))
      longest_ = std::move(trace);
    return std::nullopt;
  }

  LaunchState &state_;
  Footprint footprint_;
  TraceRecorder recorder_;
  WorkgroupRunner runner_;
  static constexpr uint64_t slice = 8;
  uint64_t traced_; ///< wave instructions that are kept of a workgroup
  WorkgroupTrace first_, longest_;
  double first_bytes_ = 0, first_stored_ = 0;
  double instructions_ = 0, longest_wave_ = 0;
  uint64_t sampled_ = 0;
  uint64_t executed_ = 0; ///< wave instructions of the workgroups after the first
  bool whole_ = true;     ///< the workgroups after the first run to their ends
};

/// A round of workgroups: replays what shares a compute unit.
RoundProfile profile_round(const Sampler &sampler, const LaunchState &state, uint64_t workgroups,
                           timing::MemoryLatency latency, double hbm_share, LaunchProfile &profile,
                           timing::ReplayObserver *observer) {
  RoundProfile round;
  round.workgroups = workgroups;
  round.compute_units = std::min<uint64_t>(workgroups, timing::compute_units);
  const uint64_t sharing = (workgroups + timing::compute_units - 1) / timing::compute_units;
  std::vector<const WorkgroupTrace *> traces(sharing, &sampler.first());
  traces.front() = &sampler.longest();
  const Program &program = state.code->program();
  timing::UnitTime unit = timing::replay(traces, program, latency, observer);
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

Result<ProfiledLaunch> profile_launch(const CodeObject &code, Memory &memory, const Launch &launch,
                                      timing::ReplayObserver *observer) {
  NEREID_TRY(const auto state, LaunchState::prepare(code, memory, launch));
  state->compute_products = false;
  const uint64_t places = uint64_t{timing::compute_units} * timing::workgroups_of_unit(*state);
  ProfiledLaunch result;
  const uint64_t sharing =
      (std::min(state->group_count, places) + timing::compute_units - 1) / timing::compute_units;
  Sampler sampler(*state, sharing);
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
  profile.instructions = sampler.instructions() * static_cast<double>(state->group_count);
  profile.longest_wave = sampler.longest_wave();
  bool code_is_cached = launch.caches != CacheState::Cold;
  const auto add_rounds = [&](uint64_t workgroups, uint64_t repeats) {
    if (workgroups == 0 || repeats == 0)
      return;
    profile.rounds.push_back(profile_round(sampler, *state, workgroups, {latency, code_is_cached}, hbm_share,
                                           profile, profile.rounds.empty() ? observer : nullptr));
    profile.rounds.back().repeats = repeats;
    code_is_cached = true;
  };
  // The first workgroups bring the code, for all that come after them.
  const uint64_t full = state->group_count / places;
  const uint64_t fetching = code_is_cached ? 0 : std::min<uint64_t>(full, 1);
  add_rounds(places, fetching);
  add_rounds(places, full - fetching);
  add_rounds(state->group_count % places, 1);
  return result;
}

} // namespace nereid::sim
