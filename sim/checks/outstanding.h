#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "sim/state/instruction.h"
#include "sim/state/isa_limits.h"

namespace nereid::sim {

/// The counters that an instruction raises until it is complete.
inline WaitCounter counter_of(const Instruction &instruction) {
  return instruction.operation ? instruction.operation->counter : WaitCounter::None;
}

/// The fields of an s_waitcnt that count memory operations.
struct WaitCounts {
  unsigned vector;
  unsigned lds;

  /// Of the immediate operand: vmcnt in bits 15:14 and 3:0, lgkmcnt in bits 11:8.
  explicit WaitCounts(uint32_t immediate)
      : vector((immediate & 15) | (immediate >> 14 & 3) << 4), lds(immediate >> 8 & 15) {}
};

/// One counter of a wave's memory operations. An operation that completes in order is complete for certain
/// once the counter has been seen at or below the number of such operations after it, whatever others do; one
/// that completes in any order only once it has been seen at 0.
class OperationCounter {
public:
  explicit OperationCounter(uint64_t limit) : limit_(limit) {}

  uint64_t issue_ordered() {
    ++ordered_issued_;
    // The hardware issues nothing that would take the counter beyond its limit.
    ordered_done_ = std::max(ordered_done_, ordered_issued_ - std::min(ordered_issued_, limit_));
    return ordered_issued_;
  }
  uint64_t issue_unordered() { return ++unordered_issued_; }
  void wait(uint64_t count) {
    if (count == 0)
      unordered_done_ = unordered_issued_;
    if (count < ordered_issued_)
      ordered_done_ = std::max(ordered_done_, ordered_issued_ - count);
  }
  bool ordered_done(uint64_t number) const { return number <= ordered_done_; }
  bool unordered_done(uint64_t number) const { return number <= unordered_done_; }
  /// The largest count that completes an operation in order.
  uint64_t covering(uint64_t number) const { return ordered_issued_ - number; }

private:
  uint64_t limit_;
  uint64_t ordered_issued_ = 0, ordered_done_ = 0;
  uint64_t unordered_issued_ = 0, unordered_done_ = 0;
};

/// A memory operation as its wave's counters know it.
struct Ticket {
  WaitCounter counter = WaitCounter::None;
  uint64_t vector = 0;
  uint64_t lds = 0;
};

/// The memory operations that a wave has in flight, as far as its waits tell.
class Outstanding {
public:
  Ticket issue(WaitCounter counter);
  void wait(WaitCounts counts) {
    vector_.wait(counts.vector < max_vmcnt ? counts.vector : no_wait);
    lds_.wait(counts.lds < max_lgkmcnt ? counts.lds : no_wait);
  }
  /// True once the waits so far say that the operation is complete.
  bool done(const Ticket &ticket) const;
  /// The s_waitcnt that would complete the operation now: "vmcnt(2)".
  std::string needed(const Ticket &ticket) const;

private:
  static constexpr uint64_t no_wait = ~uint64_t{0};

  OperationCounter vector_{max_vmcnt};
  OperationCounter lds_{max_lgkmcnt};
};

} // namespace nereid::sim
