#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "sim/state/isa_limits.h"
#include "sim/timing/constants.h"
#include "sim/timing/trace.h"

namespace nereid::sim::timing {

/// The LDS of a compute unit: a queue and a bus for each pair of SIMDs (0 and 2, 1 and 3), and the banks.
class LdsPipe {
public:
  /// When the queue of a SIMD's pair has room.
  uint64_t room(unsigned simd) const {
    const Pair &pair = pairs_[simd % pairs_.size()];
    return pair.served[pair.requests % lds_queue];
  }
  /// Issues an access at `time`; returns when its data are there.
  uint64_t start(const TracedAccess &access, unsigned simd, uint64_t time, bool stores) {
    Pair &pair = pairs_[simd % pairs_.size()];
    const unsigned addresses = lane_count * 4;
    const unsigned bus = (access.bytes + (stores ? addresses : 0) + pair_bus_bytes - 1) / pair_bus_bytes;
    const uint64_t begin = std::max(time + turn, pair.free);
    pair.free = begin + std::max<unsigned>(bus, 1);
    // The banks take the pairs in turn: what waits at one pair does not hold up the other.
    banks_ = std::max(banks_, time + turn) + access.lds_clocks;
    pair.served[pair.requests++ % lds_queue] = std::max(begin, banks_ - access.lds_clocks);
    return std::max(pair.free, banks_) + lds_latency;
  }
  /// Data of a load to LDS arrive.
  void occupy(const TracedAccess &access, uint64_t time) {
    banks_ = std::max(banks_, time) + access.lds_clocks;
  }

private:
  struct Pair {
    uint64_t free = 0;
    uint64_t requests = 0;
    std::array<uint64_t, lds_queue> served{};
  };
  std::array<Pair, 2> pairs_;
  uint64_t banks_ = 0;
};

} // namespace nereid::sim::timing
