// Launches of unequal workgroups: durations from counts, a schedule, and traffic that follows the counts.

#include "sim/run/uneven_launch.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/state/isa_limits.h"
#include "sim/timing/constants.h"
#include "sim/timing/workgroup_schedule.h"

namespace nereid::sim {

namespace {

using timing::WorkgroupCounts;
using Count = uint64_t WorkgroupCounts::*;

constexpr double even = 0.05;

bool near(double value, double expected) { return std::abs(value - expected) <= even * expected; }

double sum_of(std::span<const WorkgroupCounts> counts, Count count) {
  double sum = 0;
  for (const WorkgroupCounts &each : counts)
    sum += static_cast<double>(each.*count);
  return sum;
}

/// What a workgroup takes by what it executed.
class Line {
public:
  Line(const UnevenLaunch &launch, Count count, double of_shortest, double of_longest)
      : n0_(static_cast<double>(launch.shortest.totals.counts.*count)),
        n1_(static_cast<double>(launch.longest.totals.counts.*count)), v0_(of_shortest), v1_(of_longest) {
    if (n0_ > n1_) {
      std::swap(n0_, n1_);
      std::swap(v0_, v1_);
    }
  }

  double operator()(uint64_t executed) const {
    const auto n = static_cast<double>(executed);
    if (n >= n1_)
      return n1_ > 0 ? v1_ * n / n1_ : v1_;
    if (n <= n0_)
      return v0_ * n / n0_;
    return v0_ + (v1_ - v0_) * (n - n0_) / (n1_ - n0_);
  }

private:
  double n0_, n1_, v0_, v1_;
};

/// What each workgroup moves.
class Bytes {
public:
  explicit Bytes(const UnevenLaunch &launch)
      : loads_(launch, &WorkgroupCounts::loads, launch.shortest.totals.load_bytes,
               launch.longest.totals.load_bytes),
        stores_(launch, &WorkgroupCounts::stores, launch.shortest.totals.store_bytes,
                launch.longest.totals.store_bytes) {}

  timing::WorkgroupBytes operator()(const WorkgroupCounts &workgroup) const {
    if (workgroup.bytes)
      return *workgroup.bytes;
    return {loads_(workgroup.loads), stores_(workgroup.stores)};
  }

private:
  Line loads_, stores_;
};

/// Of each phase its share of what a workgroup has of something; all of it in the loop where it has nothing.
std::array<double, 3> shares(const timing::UnitTime &unit, double PhaseProfile::*member) {
  double sum = 0;
  for (const PhaseProfile &phase : unit.phases)
    sum += phase.*member;
  if (sum == 0)
    return {0, 1, 0};
  std::array<double, 3> result{};
  for (size_t p = 0; p < result.size(); ++p)
    result[p] = unit.phases[p].*member / sum;
  return result;
}

double sum_of(const timing::UnitTime &unit, double PhaseProfile::*member) {
  double sum = 0;
  for (const PhaseProfile &phase : unit.phases)
    sum += phase.*member;
  return sum;
}

} // namespace

timing::WorkgroupBytes bytes_of(const UnevenLaunch &launch) {
  const Bytes moved(launch);
  timing::WorkgroupBytes bytes;
  for (const WorkgroupCounts &each : launch.counts) {
    const timing::WorkgroupBytes own = moved(each);
    bytes.loads += own.loads;
    bytes.stores += own.stores;
  }
  return bytes;
}

bool is_even(std::span<const WorkgroupCounts> counts, const WorkgroupCounts &first,
             const WorkgroupCounts &longest, uint64_t places_of_device) {
  const auto units_with = [](uint64_t workgroups) {
    const uint64_t sharing = (workgroups + timing::compute_units - 1) / timing::compute_units;
    return sharing ? static_cast<double>(workgroups) / static_cast<double>(sharing) : 0;
  };
  const uint64_t full = counts.size() / places_of_device;
  const double longests =
      static_cast<double>(full) * units_with(places_of_device) + units_with(counts.size() % places_of_device);
  const double firsts = static_cast<double>(counts.size()) - longests;
  for (const Count count : {&WorkgroupCounts::longest_wave, &WorkgroupCounts::loads, &WorkgroupCounts::stores,
                            &WorkgroupCounts::products})
    if (!near(sum_of(counts, count),
              longests * static_cast<double>(longest.*count) + firsts * static_cast<double>(first.*count)))
      return false;
  const auto shorter = [](const WorkgroupCounts &a, const WorkgroupCounts &b) {
    return a.longest_wave < b.longest_wave;
  };
  return near(static_cast<double>(std::max_element(counts.begin(), counts.end(), shorter)->longest_wave),
              static_cast<double>(longest.longest_wave));
}

UnevenRound profile_uneven(const UnevenLaunch &launch, const Program &program, timing::MemoryLatency latency,
                           double fetched_share, double hbm_share, timing::ReplayObserver *observer) {
  const size_t groups = launch.counts.size();
  const auto sharing = static_cast<unsigned>(
      std::min<uint64_t>(launch.places, (groups + timing::compute_units - 1) / timing::compute_units));
  const auto alone = [&](const TracedWorkgroup &workgroup) {
    const timing::WorkgroupTrace *one[] = {&workgroup.trace};
    return timing::replay(one, program, latency).workgroup_cycles;
  };
  const double longest_alone = alone(launch.longest);
  const Line clocks(launch, &WorkgroupCounts::longest_wave, alone(launch.shortest), longest_alone);
  const Bytes moved(launch);
  const std::vector<const timing::WorkgroupTrace *> traces(sharing, &launch.longest.trace);
  timing::UnitTime unit = timing::replay(traces, program, latency, observer);

  std::vector<timing::ScheduledWorkgroup> workgroups;
  workgroups.reserve(groups);
  for (const WorkgroupCounts &each : launch.counts)
    workgroups.push_back({clocks(each.longest_wave), moved(each).loads});
  const double slowdown = longest_alone > 0 ? std::max(1.0, unit.workgroup_cycles / longest_alone) : 1;
  const timing::WorkgroupSchedule times = timing::schedule(workgroups, {sharing, slowdown});

  const timing::WorkgroupBytes bytes = bytes_of(launch);
  const double products = sum_of(launch.counts, &WorkgroupCounts::products);
  const double of_longest = static_cast<double>(launch.longest.totals.counts.products) * sharing;
  const double flop = of_longest > 0 ? products / of_longest * sum_of(unit, &PhaseProfile::matrix_flop) : 0;
  UnevenRound result;
  RoundProfile &round = result.round;
  round.workgroups = groups;
  round.compute_units = std::min<uint64_t>(groups, timing::compute_units);
  round.stalls = std::move(unit.stalls);
  round.loaded_bytes = bytes.loads;
  const auto units = static_cast<double>(round.compute_units);
  const double cycles = sum_of(unit, &PhaseProfile::cycles);
  const double longer =
      cycles > 0 ? (times.clocks + (latency.code_is_cached ? 0 : timing::first_fetch_clocks)) / cycles : 0;
  const auto load_shares = shares(unit, &PhaseProfile::load_bytes),
             store_shares = shares(unit, &PhaseProfile::store_bytes),
             flop_shares = shares(unit, &PhaseProfile::matrix_flop);
  for (size_t p = 0; p < round.phases.size(); ++p) {
    PhaseProfile &phase = round.phases[p];
    phase = unit.phases[p];
    for (double PhaseProfile::*pipe : {&PhaseProfile::cycles, &PhaseProfile::mfma_cycles,
                                       &PhaseProfile::issue_cycles, &PhaseProfile::lds_cycles})
      phase.*pipe *= longer;
    phase.load_bytes = times.most_unit_bytes * load_shares[p];
    phase.fabric_bytes = bytes.loads * load_shares[p] * fetched_share / xcd_count;
    phase.hbm_bytes = bytes.loads * load_shares[p] * hbm_share;
    phase.store_bytes = bytes.stores * store_shares[p] / units;
    phase.matrix_flop = flop * flop_shares[p] / units;
  }
  result.longest_cycles = times.longest;
  return result;
}

} // namespace nereid::sim
