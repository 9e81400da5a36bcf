#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "sim/timing/constants.h"
#include "sim/timing/trace.h"

namespace nereid::sim::timing {

/// How memory answers.
struct MemoryLatency {
  unsigned beyond_l2 = 0;      ///< clocks for lines that are not in L2
  bool code_is_cached = false; ///< the launch before was of the same kernel
};

/// The vector memory pipe of a compute unit: a queue in front of the first cache, which serves lines.
class MemoryPipe {
public:
  explicit MemoryPipe(MemoryLatency latency) : latency_(latency) {}

  /// When the queue has room.
  uint64_t room() const { return served_[requests_ % vector_memory_queue]; }
  /// Issues a request at `time`; returns when it is complete.
  uint64_t start(const TracedAccess &access, uint64_t time, bool stores) {
    const uint64_t begin = std::max(time + turn, free_);
    free_ = begin + (access.requests + requests_a_clock - 1) / requests_a_clock;
    served_[requests_++ % vector_memory_queue] = begin;
    if (stores)
      return free_ + (access.device_scope ? latency(Level::Memory, false) : store_latency);
    filled_ = std::max(filled_, begin) + access.missed_lines * (line_bytes / fill_bytes_a_clock);
    return std::max(free_, filled_) + latency(access.level, false);
  }
  unsigned latency(Level level, bool scalar) const {
    switch (level) {
    case Level::FirstCache:
      return scalar ? scalar_cache_latency : first_cache_latency;
    case Level::L2:
      return l2_latency;
    case Level::Memory:
      break;
    }
    return latency_.beyond_l2;
  }

private:
  MemoryLatency latency_;
  uint64_t free_ = 0;
  uint64_t filled_ = 0;
  uint64_t requests_ = 0;
  std::array<uint64_t, vector_memory_queue> served_{};
};

} // namespace nereid::sim::timing
