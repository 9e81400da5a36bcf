#pragma once

#include <vector>

#include "sim/checks/lds_footprint.h"
#include "sim/checks/outstanding.h"
#include "sim/state/checker.h"
#include "sim/state/register_set.h"

namespace nereid::sim {

class Program;

/// Finds results that are used before the s_waitcnt that covers them: a register that a memory operation in
/// flight will write is read or written, or bytes of LDS that the wave's own load to LDS will write are.
class WaitChecker : public Checker {
public:
  explicit WaitChecker(const Program &program);

  std::unique_ptr<Checker> fork(LaunchState &) const override { return std::make_unique<WaitChecker>(*this); }

  void begin(Workgroup &group, std::span<const std::unique_ptr<Wave>> waves) override;
  void before(Wave &wave, const Instruction &instruction) override;
  void access(Wave &wave, const Instruction &instruction, const MemoryAccess &access) override;

private:
  /// What the check needs to know of an instruction.
  struct Facts {
    RegisterSet touched;
    WaitCounter counter = WaitCounter::None;
    bool waits = false;
  };
  struct Pending {
    Ticket ticket;
    uint32_t instruction;
  };
  struct PendingLds {
    Pending operation;
    LdsFootprint bytes;
  };
  /// Of one wave.
  struct State {
    Outstanding outstanding;
    std::vector<Pending> operations;                  ///< in flight and writing registers, as issued
    RegisterSet registers;                            ///< that they will write
    std::array<uint32_t, RegisterSet::size> writer{}; ///< of each of them: the last operation that does
    std::vector<PendingLds> loads_to_lds;             ///< in flight
    Pending last;                                     ///< issued
  };

  void issue(State &state, uint32_t index, WaitCounter counter);
  void add_registers(State &state, uint32_t operation);
  void retire(State &state);
  void examine(Wave &wave, const State &state, const Instruction &instruction);

  const Program &program_; ///< also that of a copy of the launch
  std::vector<Facts> facts_;
  std::vector<State> states_;
};

} // namespace nereid::sim
