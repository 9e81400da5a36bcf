// From what the workgroups of a launch need to the time of the whole device.

#include "sim/timing/device_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace nereid::sim {

namespace {

constexpr double peak_clock = 2.4; // GHz, MI355X
constexpr double xcds = 8;
/// Bytes of rotated copies up to which the MALL holds all of them, and from which it holds none: 256 MB less
/// and more what sets and other data cost.
constexpr double all_in_mall = 225e6, none_in_mall = 272e6;

/// What a phase needs, in nanoseconds, by what limits it.
struct PhaseTime {
  double core = 0, load = 0, fabric = 0, hbm = 0, power = 0, stores = 0;

  /// What overlaps: the terms hide each other in part.
  double overlapped() const {
    return std::sqrt(core * core + load * load + fabric * fabric + hbm * hbm + power * power);
  }
  double total() const { return overlapped() + stores; }
};

PhaseTime phase_time(const PhaseProfile &phase, const RoundProfile &round, double in_mall,
                     const DeviceModel &model) {
  const double units = static_cast<double>(round.compute_units);
  PhaseTime time;
  time.core = phase.cycles / peak_clock;
  time.load = phase.load_bytes / (model.unit_load_rate * (1 + model.mall_gain * in_mall));
  time.fabric = phase.fabric_bytes / model.fabric_rate;
  time.hbm = phase.hbm_bytes * (1 - in_mall) / model.hbm_rate;
  time.power = phase.matrix_flop * units / model.power_flop_rate;
  time.stores = phase.store_bytes * units / model.store_rate;
  return time;
}

/// How many times a phase of rounds counts: between two rounds part of the epilogue hides under the next.
double times_paid(size_t phase, double repeats, bool last, const DeviceModel &model) {
  if (phase != RoundProfile::Epilogue)
    return repeats;
  return repeats - model.epilogue_overlap * (last ? repeats - 1 : repeats);
}

/// Calls `visit(round, phase, time, times)` for all phases of all rounds.
template <class Visit>
void for_each_phase(const LaunchProfile &profile, double in_mall, const DeviceModel &model, Visit visit) {
  for (size_t i = 0; i < profile.rounds.size(); ++i) {
    const RoundProfile &round = profile.rounds[i];
    const bool last = i + 1 == profile.rounds.size();
    for (size_t p = 0; p < round.phases.size(); ++p)
      visit(round, round.phases[p], phase_time(round.phases[p], round, in_mall, model),
            times_paid(p, static_cast<double>(round.repeats), last, model));
  }
}

double launch_ns(const LaunchProfile &profile, double in_mall, const DeviceModel &model) {
  double total = (model.launch_us + model.campaign_us) * 1000;
  for_each_phase(profile, in_mall, model,
                 [&](const RoundProfile &, const PhaseProfile &, const PhaseTime &time, double times) {
                   total += time.total() * times;
                 });
  return total;
}

/// What the compute unit's own time goes to: its busiest pipe when that fills most of it, else waiting.
const char *core_limit(const PhaseProfile &phase) {
  const std::pair<double, const char *> pipes[] = {
      {phase.mfma_cycles, "mfma"}, {phase.issue_cycles, "issue"}, {phase.lds_cycles, "lds"}};
  const auto busiest = *std::max_element(std::begin(pipes), std::end(pipes));
  return busiest.first > phase.cycles / 2 ? busiest.second : "latency";
}

} // namespace

double share_in_mall(CacheState caches, double footprint_bytes) {
  if (caches == CacheState::Cold)
    return 0;
  const double resident =
      caches == CacheState::Rotating ? footprint_bytes * rotating_copies : footprint_bytes;
  return std::clamp((none_in_mall - resident) / (none_in_mall - all_in_mall), 0.0, 1.0);
}

double device_us(const LaunchProfile &profile, CacheState caches, const DeviceModel &model) {
  return launch_ns(profile, share_in_mall(caches, profile.footprint_bytes), model) / 1000;
}

LaunchTime launch_time(const LaunchProfile &profile, CacheState caches, const DeviceModel &model) {
  const double in_mall = share_in_mall(caches, profile.footprint_bytes);
  std::map<std::string, double> limits;
  limits["launch"] = (model.launch_us + model.campaign_us) * 1000;
  double overlapped = 0, powered = 0, l2 = 0, mall = 0, hbm = 0;
  for_each_phase(
      profile, in_mall, model,
      [&](const RoundProfile &round, const PhaseProfile &phase, const PhaseTime &time, double times) {
        const double share = time.overlapped() > 0 ? times / time.overlapped() : 0;
        limits[core_limit(phase)] += time.core * time.core * share;
        limits["vector memory"] += time.load * time.load * share;
        limits["fabric"] += time.fabric * time.fabric * share;
        limits["hbm"] += time.hbm * time.hbm * share;
        limits["power"] += time.power * time.power * share;
        limits["stores"] += time.stores * times;
        overlapped += time.overlapped() * times;
        powered += time.power * time.power * share;
        const double units = static_cast<double>(round.compute_units);
        const double repeats = static_cast<double>(round.repeats);
        l2 += phase.store_bytes * units * repeats;
        mall += (phase.fabric_bytes * xcds + phase.store_bytes * units) * repeats;
        hbm += (phase.hbm_bytes * (1 - in_mall) + phase.store_bytes * units) * repeats;
      });
  LaunchTime result;
  double waves = 0; // clocks of all waves
  for (const RoundProfile &round : profile.rounds) {
    const double repeats = static_cast<double>(round.repeats);
    l2 += round.loaded_bytes * repeats;
    for (const auto &[reason, cycles] : round.stalls) {
      result.stalls[reason] += cycles * repeats;
      waves += cycles * repeats;
    }
  }
  for (auto &[reason, share] : result.stalls)
    share = waves > 0 ? share / waves : 0;
  result.us = launch_ns(profile, in_mall, model) / 1000;
  result.cycles_per_workgroup = profile.cycles_per_workgroup;
  const double power_share = overlapped > 0 ? powered / overlapped : 0;
  result.clock_ghz = peak_clock * (1 - power_share / 2);
  result.limit = std::max_element(limits.begin(), limits.end(), [](const auto &a, const auto &b) {
                   return a.second < b.second;
                 })->first;
  result.l2_bytes = static_cast<uint64_t>(std::llround(l2));
  result.mall_bytes = static_cast<uint64_t>(std::llround(mall));
  result.hbm_bytes = static_cast<uint64_t>(std::llround(hbm));
  return result;
}

} // namespace nereid::sim
