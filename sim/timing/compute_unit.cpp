// A compute unit: which wave issues next, and when.

#include "sim/timing/compute_unit.h"

#include <algorithm>
#include <vector>

#include "sim/state/isa_limits.h"
#include "sim/timing/constants.h"
#include "sim/timing/hot_loop.h"
#include "sim/timing/instruction_cost.h"
#include "sim/timing/lds_pipe.h"
#include "sim/timing/loop_skip.h"
#include "sim/timing/memory_pipe.h"
#include "sim/timing/wave_replay.h"

namespace nereid::sim::timing {

namespace {

constexpr uint64_t never = ~uint64_t{0};

uint64_t next_turn(uint64_t time) { return (time + turn - 1) / turn * turn; }

/// When the parts of a SIMD are free.
struct Simd {
  std::array<uint64_t, unit_count> unit{};
  uint64_t exclusive = 0;                                ///< until then nothing issues
  uint64_t matrix_done = 0;                              ///< of the last MFMA
  std::array<double, 3> matrix_clocks{}, issue_clocks{}; ///< by phase
};

/// When a wave's next instruction can issue, and what it waits for until then.
struct Readiness {
  uint64_t time = never;
  const char *reason = "issue";
};

class ComputeUnit {
public:
  ComputeUnit(std::span<const WorkgroupTrace *const> groups, const Program &program, MemoryLatency latency,
              ReplayObserver *observer)
      : costs_(instruction_costs(program)), memory_(latency), observer_(observer) {
    for (size_t g = 0; g < groups.size(); ++g) {
      barriers_.push_back({static_cast<unsigned>(groups[g]->waves.size()), 0, 0});
      for (size_t w = 0; w < groups[g]->waves.size(); ++w) {
        const auto &events = groups[g]->waves[w];
        waves_.emplace_back(*groups[g], events, hot_loop(events, program), g, static_cast<unsigned>(w),
                            static_cast<unsigned>((w + g * groups[g]->waves.size()) % simd_count),
                            (latency.code_is_cached ? 0 : first_fetch_clocks) + g * workgroup_start_clocks);
      }
    }
  }

  UnitTime run() {
    for (;;) {
      WaveReplay *best = nullptr;
      Readiness first;
      for (WaveReplay &wave : waves_) {
        if (wave.ended() || wave.at_barrier)
          continue;
        const Readiness ready = readiness(wave);
        if (ready.time < first.time || (ready.time == first.time && goes_before(wave, *best))) {
          first = ready;
          best = &wave;
        }
      }
      if (!best)
        return result();
      issue(*best, first);
    }
  }

private:
  struct Barrier {
    unsigned waves;
    unsigned arrived;
    uint64_t last;
  };

  /// By priority, then the one that has waited longest.
  static bool goes_before(const WaveReplay &a, const WaveReplay &b) {
    return a.priority != b.priority ? a.priority > b.priority : a.next < b.next;
  }

  Readiness readiness(WaveReplay &wave) {
    const InstructionCost &cost = costs_[wave.event().instruction];
    const Simd &simd = simds_[wave.simd];
    Readiness ready{wave.next, "issue"};
    const auto later = [&](uint64_t time, const char *reason) {
      if (time > ready.time)
        ready = {time, reason};
    };
    if (cost.wait) {
      later(wave.vector_counter.time_of(cost.vmcnt), "vector memory");
      later(wave.lds_counter.time_of(cost.lgkmcnt), wave.scalar_pending ? "scalar memory" : "lds");
    }
    if (cost.unit != Unit::Internal) {
      later(simd.exclusive, "mfma");
      later(simd.unit[static_cast<size_t>(cost.unit)], cost.unit == Unit::Matrix ? "mfma" : "issue");
    }
    if (cost.packed_f32 && simd.matrix_done)
      later(simd.matrix_done + packed_after_matrix_clocks, "mfma");
    if (wave.event().access) {
      const TracedAccess &access = wave.access();
      if (access.lds_clocks)
        later(lds_.room(wave.simd), "lds");
      if (access.memory && cost.unit == Unit::VectorMemory)
        later(memory_.room(), "vector memory");
    }
    ready.time = next_turn(ready.time);
    return ready;
  }

  void issue(WaveReplay &wave, Readiness ready) {
    const InstructionCost &cost = costs_[wave.event().instruction];
    Simd &simd = simds_[wave.simd];
    const unsigned phase = wave.phase();
    wave.enter(phase, ready.time);
    stalls_[ready.reason] += static_cast<double>(ready.time - wave.next);
    stalls_[cost.unit == Unit::Matrix ? "mfma" : "issue"] += cost.wave_clocks;
    if (cost.unit != Unit::Internal) {
      simd.unit[static_cast<size_t>(cost.unit)] = ready.time + cost.clocks;
      simd.issue_clocks[phase] += std::max<unsigned>(turn, cost.exclusive);
    }
    if (cost.unit == Unit::Matrix) {
      simd.exclusive = ready.time + cost.exclusive;
      simd.matrix_done = ready.time + cost.clocks;
      simd.matrix_clocks[phase] += cost.clocks;
      phases_[phase].matrix_flop += cost.flop;
    }
    if (cost.wait)
      retire(wave, cost, phase);
    if (cost.priority != InstructionCost::no_priority)
      wave.priority = cost.priority;
    const uint64_t could_go_on = wave.next;
    wave.next = ready.time + cost.wave_clocks;
    const uint64_t done = start_access(wave, cost, ready.time, phase);
    if (observer_)
      observer_->issued({wave.group, wave.wave, wave.position, wave.event().instruction, could_go_on,
                         ready.time, wave.next, done, ready.reason});
    if (cost.barrier)
      arrive(wave);
    wave.advance();
  }

  void retire(WaveReplay &wave, const InstructionCost &cost, unsigned phase) {
    phases_[phase].load_bytes += static_cast<double>(wave.vector_counter.retire(cost.vmcnt));
    wave.lds_counter.retire(cost.lgkmcnt);
    if (wave.lds_counter.empty())
      wave.scalar_pending = false;
  }

  /// Returns when it is complete, 0 where there is none.
  uint64_t start_access(WaveReplay &wave, const InstructionCost &cost, uint64_t time, unsigned phase) {
    if (cost.write_back)
      wave.vector_counter.add(time + write_back_clocks, 0);
    if (!wave.event().access) {
      if (cost.unit != Unit::Lds)
        return 0;
      // A lane exchange, which passes the LDS but not its banks.
      wave.lds_counter.add(time + lds_latency, 0);
      return time + lds_latency;
    }
    const TracedAccess &access = wave.access();
    if (cost.scalar_load) {
      const uint64_t done = time + memory_.latency(access.level, true);
      wave.lds_counter.add(done, 0);
      wave.scalar_pending = true;
      return done;
    }
    const bool stores = cost.stores;
    if (cost.unit == Unit::VectorMemory && access.memory) {
      const uint64_t done = memory_.start(access, time, stores);
      wave.vector_counter.add(done, stores ? 0 : access.bytes);
      if (stores)
        phases_[phase].store_bytes += access.bytes;
      if (access.lds_clocks)
        lds_.occupy(access, time);
      return done;
    }
    if (!access.lds_clocks)
      return 0;
    const uint64_t done = lds_.start(access, wave.simd, time, stores);
    wave.lds_counter.add(done, 0);
    phases_[phase].lds_cycles += access.lds_clocks;
    return done;
  }

  void arrive(WaveReplay &wave) {
    Barrier &barrier = barriers_[wave.group];
    wave.at_barrier = true;
    barrier.last = std::max(barrier.last, wave.next);
    if (++barrier.arrived < barrier.waves)
      return;
    for (WaveReplay &other : waves_) {
      if (other.group != wave.group || !other.at_barrier)
        continue;
      other.at_barrier = false;
      stalls_["barrier"] += static_cast<double>(barrier.last + barrier_clocks - other.next);
      if (observer_)
        observer_->passed_barrier(other.group, other.wave, other.next, barrier.last + barrier_clocks);
      other.next = barrier.last + barrier_clocks;
    }
    barrier.arrived = 0;
    barrier.last = 0;
  }

  UnitTime result() {
    std::array<uint64_t, 4> border{};
    uint64_t longest = 0;
    std::vector<std::pair<uint64_t, uint64_t>> span(barriers_.size(), {never, 0});
    for (WaveReplay &wave : waves_) {
      phases_[RoundProfile::Epilogue].load_bytes += static_cast<double>(wave.vector_counter.retire(0));
      wave.enter(RoundProfile::Epilogue, wave.next);
      border[1] = std::max(border[1], wave.entered[RoundProfile::Loop]);
      border[2] = std::max(border[2], wave.entered[RoundProfile::Epilogue]);
      border[3] = std::max(border[3], wave.next);
      span[wave.group].first = std::min(span[wave.group].first, wave.entered[RoundProfile::Prologue]);
      span[wave.group].second = std::max(span[wave.group].second, wave.next);
    }
    for (const auto &[first, last] : span)
      longest = std::max(longest, last - first);
    for (size_t p = 0; p < phases_.size(); ++p) {
      phases_[p].cycles = static_cast<double>(border[p + 1] - border[p]);
      for (const Simd &simd : simds_) {
        phases_[p].mfma_cycles = std::max(phases_[p].mfma_cycles, simd.matrix_clocks[p]);
        phases_[p].issue_cycles = std::max(phases_[p].issue_cycles, simd.issue_clocks[p]);
      }
    }
    return {phases_, stalls_, static_cast<double>(longest)};
  }

  std::vector<InstructionCost> costs_;
  std::array<Simd, simd_count> simds_;
  LdsPipe lds_;
  MemoryPipe memory_;
  ReplayObserver *observer_; ///< null: none
  std::vector<WaveReplay> waves_;
  std::vector<Barrier> barriers_;
  std::array<PhaseProfile, 3> phases_;
  std::map<std::string, double> stalls_;
};

} // namespace

namespace {

/// `with` and `times` more of what it has beyond `without`.
double extrapolated(double with, double without, double times) { return with + times * (with - without); }

} // namespace

UnitTime replay(std::span<const WorkgroupTrace *const> workgroups, const Program &program,
                MemoryLatency latency, ReplayObserver *observer) {
  if (observer)
    observer->begin(workgroups);
  UnitTime time = ComputeUnit(workgroups, program, latency, observer).run();
  double times = 0;
  for (const WorkgroupTrace *trace : workgroups)
    for (const LoopSample &sample : trace->samples)
      times = std::max(times, sample.times());
  if (times == 0)
    return time;
  std::map<const WorkgroupTrace *, WorkgroupTrace> shorter;
  std::vector<const WorkgroupTrace *> traces;
  for (const WorkgroupTrace *trace : workgroups)
    traces.push_back(&shorter.try_emplace(trace, without_samples(*trace)).first->second);
  const UnitTime less = ComputeUnit(traces, program, latency, nullptr).run();
  constexpr double PhaseProfile::*counts[] = {&PhaseProfile::cycles,       &PhaseProfile::mfma_cycles,
                                              &PhaseProfile::issue_cycles, &PhaseProfile::lds_cycles,
                                              &PhaseProfile::load_bytes,   &PhaseProfile::store_bytes,
                                              &PhaseProfile::matrix_flop};
  for (size_t p = 0; p < time.phases.size(); ++p)
    for (double PhaseProfile::*count : counts)
      time.phases[p].*count = extrapolated(time.phases[p].*count, less.phases[p].*count, times);
  for (auto &[reason, clocks] : time.stalls) {
    const auto found = less.stalls.find(reason);
    clocks = std::max(0.0, extrapolated(clocks, found == less.stalls.end() ? 0 : found->second, times));
  }
  time.workgroup_cycles = extrapolated(time.workgroup_cycles, less.workgroup_cycles, times);
  return time;
}

} // namespace nereid::sim::timing
