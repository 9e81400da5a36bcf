#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sim/timing/trace.h"

namespace nereid::sim::timing {

/// One instruction of a wave in a replay, in core clocks.
struct ReplayedIssue {
  size_t group = 0;         ///< index of the workgroup among those that share the compute unit
  unsigned wave = 0;        ///< of the workgroup
  size_t event = 0;         ///< index in the wave's trace
  uint32_t instruction = 0; ///< index in the program
  uint64_t ready = 0;       ///< when the wave could go on
  uint64_t issue = 0;       ///< when the instruction issues
  uint64_t next = 0;        ///< when the wave can go on, but for a barrier
  uint64_t done = 0;        ///< when its access is complete; 0: it has none
  const char *reason = "";  ///< for which the wave waits from `ready` to `issue`
};

/// Sees a replay without changing it.
class ReplayObserver {
public:
  virtual ~ReplayObserver() = default;

  /// The traces that are about to be replayed. Only of the first replay of a launch is anything told.
  virtual void begin(std::span<const WorkgroupTrace *const>) {}
  virtual void issued(const ReplayedIssue &) {}
  /// A wave goes on behind a barrier, for which it has waited from `from` to `until`.
  virtual void passed_barrier(size_t /*group*/, unsigned /*wave*/, uint64_t /*from*/, uint64_t /*until*/) {}
};

} // namespace nereid::sim::timing
