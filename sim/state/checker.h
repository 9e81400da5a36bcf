#pragma once

#include <memory>
#include <span>

#include "sim/state/memory_access.h"
#include "sim/state/wave.h"

namespace nereid::sim {

struct LaunchState;

/// Looks at a run without changing it: what the checks and observers are made of. One object sees the
/// workgroups that one host thread runs, one after the other, and overrides the calls that concern it. A call
/// that finds a fault raises it on the wave; what comes after the current instruction then never happens.
class Checker {
public:
  virtual ~Checker() = default;

  /// A checker at the same point that goes on with a copy of the launch.
  virtual std::unique_ptr<Checker> fork(LaunchState &copy) const = 0;

  /// A workgroup is about to start: registers and LDS are set up.
  virtual void begin(Workgroup &, std::span<const std::unique_ptr<Wave>>) {}
  /// Before an instruction: registers are what it will read. When this raises a fault it is not executed.
  virtual void before(Wave &, const Instruction &) {}
  /// While a memory instruction runs: its addresses are valid, nothing has moved yet.
  virtual void access(Wave &, const Instruction &, const MemoryAccess &) {}
  /// All waves of the workgroup have met at a barrier and go on.
  virtual void barrier(Workgroup &) {}
  /// All waves of the workgroup have ended.
  virtual void end(Workgroup &) {}
};

} // namespace nereid::sim
