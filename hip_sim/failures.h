#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string_view>

#include "hip_sim/entry.h"

namespace nereid::hip_sim {

/// How often each entry point was called, and which call of it is to fail.
class Failures {
public:
  /// The one of the process, with what NEREID_HIP_FAIL asks for.
  static Failures &all();

  /// Counts a call; what it is to fail with.
  hipError_t count(Entry entry);
  uint64_t calls(Entry entry) const { return of(entry).calls.load(std::memory_order_relaxed); }
  /// The n-th call from now on fails, once; 0: none does.
  void fail(Entry entry, uint64_t n, hipError_t error);
  /// Reads "CALL:n[:code],...". False when something of it cannot be read.
  bool parse(std::string_view text);

  static std::optional<Entry> entry_of(std::string_view name);

private:
  struct Counter {
    std::atomic<uint64_t> calls{0};
    std::atomic<uint64_t> failing{0}; ///< the number of the call that fails; 0: none
    std::atomic<int> error{hipErrorUnknown};
  };
  const Counter &of(Entry entry) const { return counters_[static_cast<size_t>(entry)]; }

  std::array<Counter, static_cast<size_t>(Entry::Count)> counters_;
};

} // namespace nereid::hip_sim
