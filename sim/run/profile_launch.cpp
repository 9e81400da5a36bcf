// Scales what representative workgroups of a launch need to the grid.

#include "sim/run/profile_launch.h"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "base/progress.h"
#include "sim/run/uneven_launch.h"
#include "sim/run/workgroup_sampler.h"
#include "sim/timing/compute_unit.h"
#include "sim/timing/constants.h"
#include "sim/timing/device_model.h"
#include "sim/timing/occupancy.h"

namespace nereid::sim {

namespace {

/// Which workgroups stand for a launch, and what all of it moves.
struct Sample {
  const TracedWorkgroup &first, &longest;
  double fetched_share = 0, hbm_share = 0;
};

/// A round of workgroups: replays what shares a compute unit.
RoundProfile profile_round(const Sample &sample, const LaunchState &state, uint64_t workgroups,
                           timing::MemoryLatency latency, LaunchProfile &profile,
                           timing::ReplayObserver *observer) {
  RoundProfile round;
  round.workgroups = workgroups;
  round.compute_units = std::min<uint64_t>(workgroups, timing::compute_units);
  const uint64_t sharing = (workgroups + timing::compute_units - 1) / timing::compute_units;
  std::vector<const timing::WorkgroupTrace *> traces(sharing, &sample.first.trace);
  traces.front() = &sample.longest.trace;
  const Program &program = state.code->program();
  timing::UnitTime unit = timing::replay(traces, program, latency, observer);
  round.stalls = std::move(unit.stalls);
  round.phases = unit.phases;
  profile.cycles_per_workgroup = std::max(profile.cycles_per_workgroup, unit.workgroup_cycles);
  // The units with the most workgroups end last; what all of them move is less.
  const double groups = static_cast<double>(workgroups) / static_cast<double>(sharing);
  for (PhaseProfile &phase : round.phases) {
    round.loaded_bytes += phase.load_bytes * groups;
    phase.fabric_bytes = phase.load_bytes * groups * sample.fetched_share / xcd_count;
    phase.hbm_bytes = phase.load_bytes * groups * sample.hbm_share;
    phase.store_bytes *= groups / static_cast<double>(round.compute_units);
    phase.matrix_flop *= groups / static_cast<double>(round.compute_units);
  }
  return round;
}

timing::MemoryLatency latency_of(const Launch &launch, double footprint_bytes) {
  const double in_mall = share_in_mall(launch.caches, footprint_bytes);
  return {static_cast<unsigned>(timing::hbm_latency - in_mall * (timing::hbm_latency - timing::mall_latency)),
          launch.caches != CacheState::Cold};
}

/// Rounds of workgroups like the first and the longest of the sample.
LaunchProfile profile_rounds(const WorkgroupSampler &sampler, const LaunchState &state, uint64_t places,
                             timing::ReplayObserver *observer) {
  LaunchProfile profile;
  const auto groups = static_cast<double>(state.group_count);
  const double loaded = groups * sampler.first().totals.load_bytes;
  const double distinct = sampler.distinct_bytes(loaded);
  profile.footprint_bytes = distinct + groups * sampler.first().totals.store_bytes;
  timing::MemoryLatency latency = latency_of(*state.launch, profile.footprint_bytes);
  const Sample sample{sampler.first(), sampler.longest(), sampler.fetched_share(),
                      loaded > 0 ? distinct / loaded : 0};
  const uint64_t full = state.group_count / places;
  const uint64_t fetching = latency.code_is_cached ? 0 : std::min<uint64_t>(full, 1);
  const auto add_rounds = [&](uint64_t workgroups, uint64_t repeats) {
    if (workgroups == 0 || repeats == 0)
      return;
    profile.rounds.push_back(profile_round(sample, state, workgroups, latency, profile,
                                           profile.rounds.empty() ? observer : nullptr));
    profile.rounds.back().repeats = repeats;
    latency.code_is_cached = true; // the first workgroups bring the code, for all that come after them
  };
  add_rounds(places, fetching);
  add_rounds(places, full - fetching);
  add_rounds(state.group_count % places, 1);
  return profile;
}

/// `counts`, with the bytes of workgroups that the sample has executed in the same way.
std::vector<timing::WorkgroupCounts> with_bytes(std::span<const timing::WorkgroupCounts> counts,
                                                std::span<const timing::WorkgroupCounts> sampled) {
  std::vector<timing::WorkgroupCounts> known(counts.begin(), counts.end());
  for (size_t i = 0; i < std::min(known.size(), sampled.size()); ++i)
    if (known[i].loads == sampled[i].loads && known[i].stores == sampled[i].stores)
      known[i].bytes = sampled[i].bytes;
  return known;
}

/// One round by the counts of all workgroups, and two that were executed: of those that are looked at again,
/// as of the sample, the shortest and the longest. One that depends on others may do less the second time.
std::optional<Fault> profile_by_counts(WorkgroupSampler &sampler, const LaunchState &state,
                                       std::span<const timing::WorkgroupCounts> counts, uint64_t places,
                                       timing::ReplayObserver *observer, LaunchProfile &profile) {
  const auto [least, most] =
      std::minmax_element(counts.begin(), counts.end(),
                          [](const auto &a, const auto &b) { return a.longest_wave < b.longest_wave; });
  std::array<TracedWorkgroup, 2> again;
  if (auto fault = sampler.trace(static_cast<uint64_t>(least - counts.begin()), again[0]))
    return fault;
  if (auto fault = sampler.trace(static_cast<uint64_t>(most - counts.begin()), again[1]))
    return fault;
  const TracedWorkgroup *known[] = {&sampler.first(), &sampler.longest(), &again[0], &again[1]};
  const auto [shortest, longest] =
      std::minmax_element(std::begin(known), std::end(known), [](const auto *a, const auto *b) {
        return a->totals.counts.longest_wave < b->totals.counts.longest_wave;
      });
  const UnevenLaunch launch{counts, **shortest, **longest,
                            static_cast<unsigned>(places / timing::compute_units)};
  const timing::WorkgroupBytes bytes = bytes_of(launch);
  const double distinct = sampler.distinct_bytes(bytes.loads);
  profile.footprint_bytes = distinct + bytes.stores;
  UnevenRound uneven = profile_uneven(
      launch, state.code->program(), latency_of(*state.launch, profile.footprint_bytes),
      sampler.fetched_share(), bytes.loads > 0 ? std::min(1.0, distinct / bytes.loads) : 0, observer);
  profile.cycles_per_workgroup = uneven.longest_cycles;
  profile.rounds.push_back(std::move(uneven.round));
  return std::nullopt;
}

} // namespace

Result<ProfiledLaunch> profile_launch(const CodeObject &code, Memory &memory, const Launch &launch,
                                      std::span<const timing::WorkgroupCounts> counts,
                                      timing::ReplayObserver *observer) {
  NEREID_TRY(const auto state, LaunchState::prepare(code, memory, launch));
  state->compute_products = false;
  const ProgressClock progress(fmt::format("timing kernel '{}'", state->kernel->name));
  const uint64_t places = uint64_t{timing::compute_units} * timing::workgroups_of_unit(*state);
  const uint64_t sharing =
      (std::min(state->group_count, places) + timing::compute_units - 1) / timing::compute_units;
  WorkgroupSampler sampler(*state, sharing, !counts.empty());
  ProfiledLaunch result;
  result.fault = sampler.run(std::min<uint64_t>(places, 2 * timing::compute_units));
  const std::vector<timing::WorkgroupCounts> known =
      with_bytes(counts.empty() ? sampler.counts() : counts, sampler.counts());
  counts = known;
  if (!result.fault) {
    if (counts.empty() ||
        is_even(counts, sampler.first().totals.counts, sampler.longest().totals.counts, places))
      result.profile = profile_rounds(sampler, *state, places, observer);
    else
      result.fault = profile_by_counts(sampler, *state, counts, places, observer, result.profile);
  }
  result.executed = sampler.executed();
  result.executed_workgroups = counts.empty() ? sampler.executed_workgroups() : state->group_count;
  result.looks_uneven = !result.fault && counts.empty() && sampler.looks_uneven();
  return result;
}

} // namespace nereid::sim
