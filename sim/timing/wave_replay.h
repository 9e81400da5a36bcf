#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "sim/timing/hot_loop.h"
#include "sim/timing/launch_profile.h"
#include "sim/timing/trace.h"

namespace nereid::sim::timing {

/// Operations in flight that a wait counter counts, complete in the order of issue.
class InFlight {
public:
  void add(uint64_t done, uint64_t bytes) {
    last_ = std::max(last_, done);
    operations_.push_back({last_, bytes});
  }
  bool empty() const { return operations_.empty(); }
  /// When no more than `left` are in flight.
  uint64_t time_of(unsigned left) const {
    return operations_.size() <= left ? 0 : operations_[operations_.size() - left - 1].done;
  }
  /// Forgets all but the last `left`; returns their bytes.
  uint64_t retire(unsigned left) {
    uint64_t bytes = 0;
    for (; operations_.size() > left; operations_.pop_front())
      bytes += operations_.front().bytes;
    return bytes;
  }

private:
  struct Operation {
    uint64_t done;
    uint64_t bytes;
  };
  std::deque<Operation> operations_;
  uint64_t last_ = 0;
};

/// One wave of a trace and how far it is.
struct WaveReplay {
  WaveReplay(const WorkgroupTrace &trace, const std::vector<TraceEvent> &all, HotLoop hot, size_t of_group,
             unsigned number, unsigned on_simd, uint64_t start)
      : events(&all), accesses(&trace.accesses), loop(hot), group(of_group), wave(number), simd(on_simd),
        next(start) {}

  const std::vector<TraceEvent> *events;
  const std::vector<TracedAccess> *accesses;
  HotLoop loop;
  size_t group;
  unsigned wave; ///< of the workgroup
  unsigned simd;
  size_t position = 0;
  uint64_t next; ///< when it can issue again
  unsigned priority = 0;
  bool at_barrier = false;
  bool scalar_pending = false;
  InFlight vector_counter, lds_counter;
  std::array<uint64_t, 3> entered{}; ///< when it came into a phase
  unsigned entered_phases = 0;

  bool ended() const { return position == events->size(); }
  const TraceEvent &event() const { return (*events)[position]; }
  /// Of the next instruction, which has one.
  const TracedAccess &access() const { return (*accesses)[event().access - 1]; }
  void advance() { ++position; }
  unsigned phase() const {
    return position < loop.first  ? RoundProfile::Prologue
           : position < loop.last ? RoundProfile::Loop
                                  : RoundProfile::Epilogue;
  }
  /// Notes when a phase, and those before it that have no instruction, began.
  void enter(unsigned phase, uint64_t time) {
    for (; entered_phases <= phase; ++entered_phases)
      entered[entered_phases] = time;
  }
};

} // namespace nereid::sim::timing
