#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "sim/checks/outstanding.h"

namespace nereid::sim {

/// Of each wave of a workgroup the number of its last vector-memory operation that something is known of;
/// the operations of a wave count from 1.
using WaveClock = std::array<uint64_t, max_waves>;

/// What a workgroup makes known with an atomic: which stores of its waves are complete, and which of those
/// have been written back to where other dies see them.
struct Published {
  WaveClock complete{};
  WaveClock written_back{};
};

/// How many of the releases at each location a wave has seen.
class Knowledge {
public:
  void add(uint32_t location, uint64_t position) {
    uint64_t &known = positions_[location];
    known = std::max(known, position);
  }
  void join(const Knowledge &other) {
    for (auto [location, position] : other.positions_)
      add(location, position);
  }
  bool has(uint32_t location, uint64_t position) const {
    auto found = positions_.find(location);
    return found != positions_.end() && found->second >= position;
  }

private:
  std::map<uint32_t, uint64_t> positions_;
};

/// The order of one wave's global memory operations with those of its workgroup and of others.
class GlobalOrder {
public:
  explicit GlobalOrder(unsigned wave) : wave_(wave) {}

  /// Issues an operation that a counter counts; returns its number, 0 when it is none of vector memory.
  uint64_t issue(WaitCounter counter);
  void wait(WaitCounts counts);
  /// buffer_wbl2: what is complete or issued before is written back once the operation itself is complete.
  void write_back(uint64_t number) { write_backs_.push_back({number, published_now(number)}); }
  /// buffer_inv: loads from now on see what the wave has observed.
  void invalidate() { acquired_.join(observed_); }
  /// An atomic has returned, once its operation is complete, something that depends on these releases.
  void observe(uint64_t number, Knowledge releases) {
    observations_.push_back({number, std::move(releases)});
  }
  /// What an atomic of the wave would publish now.
  Published published() const { return published_now(complete()); }
  /// What orders this wave's stores and loads of device scope behind other workgroups.
  const Knowledge &observed() const { return observed_; }
  /// The same for loads that may hit in caches.
  const Knowledge &acquired() const { return acquired_; }

  /// All waves have met: what is complete or known in one is known in all.
  static void meet(std::vector<GlobalOrder> &waves);

private:
  template <class Value> struct Pending {
    uint64_t number;
    Value value;
  };

  /// The last operation of which all up to it are complete.
  uint64_t complete() const { return issued_ - in_flight_.size(); }
  Published published_now(uint64_t own) const;
  void settle();

  unsigned wave_;
  Outstanding outstanding_;
  uint64_t issued_ = 0;
  std::deque<Ticket> in_flight_; ///< from the first that is not complete on
  WaveClock others_complete_{};
  WaveClock written_back_{};
  Knowledge observed_, acquired_;
  std::vector<Pending<Published>> write_backs_;
  std::vector<Pending<Knowledge>> observations_;
};

} // namespace nereid::sim
