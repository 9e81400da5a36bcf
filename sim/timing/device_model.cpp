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
  double core = 0, load = 0, fabric = 0, hbm = 0, power = 0, steps = 0, stores = 0;

  double total() const {
    return std::sqrt(core * core + load * load + fabric * fabric + hbm * hbm + power * power) + steps +
           stores;
  }
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
  time.steps = phase.steps * model.step_cycles / peak_clock;
  time.stores = phase.store_bytes * units / model.store_rate;
  return time;
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

LaunchTime launch_time(const LaunchProfile &profile, CacheState caches, const DeviceModel &model) {
  const double in_mall = share_in_mall(caches, profile.footprint_bytes);
  std::map<std::string, double> limits;
  double total = (model.launch_us + model.campaign_us) * 1000;
  limits["launch"] = total;
  double core = 0, powered = 0;
  LaunchTime result;
  double hbm = 0, mall = 0, l2 = 0, waves = 0;
  for (size_t i = 0; i < profile.rounds.size(); ++i) {
    const RoundProfile &round = profile.rounds[i];
    const bool last = i + 1 == profile.rounds.size();
    const double repeats = static_cast<double>(round.repeats);
    for (size_t p = 0; p < round.phases.size(); ++p) {
      const PhaseProfile &phase = round.phases[p];
      const PhaseTime time = phase_time(phase, round, in_mall, model);
      double times = repeats;
      if (p == RoundProfile::Epilogue)
        times -= model.epilogue_overlap * (last ? repeats - 1 : repeats);
      const double squares = time.total() - time.steps - time.stores;
      const double share = squares > 0 ? times / squares : 0;
      limits[core_limit(phase)] += time.core * time.core * share;
      limits["vector memory"] += time.load * time.load * share;
      limits["fabric"] += time.fabric * time.fabric * share;
      limits["hbm"] += time.hbm * time.hbm * share;
      limits["power"] += time.power * time.power * share;
      limits["barrier"] += time.steps * times;
      limits["stores"] += time.stores * times;
      total += time.total() * times;
      core += squares * times;
      powered += time.power * time.power * share;
      const double units = static_cast<double>(round.compute_units);
      l2 += (phase.load_bytes + phase.store_bytes) * units * repeats;
      mall += (phase.fabric_bytes * xcds + phase.store_bytes * units) * repeats;
      hbm += (phase.hbm_bytes * (1 - in_mall) + phase.store_bytes * units) * repeats;
    }
    total += model.round_us * 1000 * repeats;
    limits["latency"] += model.round_us * 1000 * repeats;
    for (const auto &[reason, cycles] : round.stalls) {
      result.stalls[reason] += cycles * repeats;
      waves += cycles * repeats;
    }
  }
  for (auto &[reason, share] : result.stalls)
    share = waves > 0 ? share / waves : 0;
  result.us = total / 1000;
  result.cycles_per_workgroup = profile.cycles_per_workgroup;
  result.clock_ghz =
      core > 0 ? peak_clock * (1 - powered / core) + peak_clock / 2 * (powered / core) : peak_clock;
  result.limit = std::max_element(limits.begin(), limits.end(), [](const auto &a, const auto &b) {
                   return a.second < b.second;
                 })->first;
  result.l2_bytes = static_cast<uint64_t>(l2);
  result.mall_bytes = static_cast<uint64_t>(mall);
  result.hbm_bytes = static_cast<uint64_t>(hbm);
  return result;
}

} // namespace nereid::sim
