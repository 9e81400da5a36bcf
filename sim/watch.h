#pragma once

#include <memory>
#include <span>

#include "sim/memory_access.h"
#include "sim/wave.h"

namespace nereid::sim {

/// Looks at a run without changing it: what the checks and observers are made of. One object watches the
/// workgroups that one host thread runs, one after the other. A call that finds a fault raises it on the
/// wave; what comes after the current instruction then never happens.
class Watch {
public:
  virtual ~Watch() = default;

  /// A workgroup is about to start: registers and LDS are set up.
  virtual void begin(Workgroup &group, std::span<const std::unique_ptr<Wave>> waves) = 0;
  /// Before an instruction: registers are what it will read. When this raises a fault it is not executed.
  virtual void before(Wave &wave, const Instruction &instruction) = 0;
  /// While a memory instruction runs: its addresses are valid, nothing has moved yet.
  virtual void access(Wave &wave, const Instruction &instruction, const MemoryAccess &access) = 0;
  /// After an instruction that raised no fault.
  virtual void after(Wave &wave, const Instruction &instruction) = 0;
  /// All waves of the workgroup have met at a barrier and go on.
  virtual void barrier(Workgroup &group) = 0;
  /// All waves of the workgroup have ended.
  virtual void end(Workgroup &group) = 0;
};

} // namespace nereid::sim
