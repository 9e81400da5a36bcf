#pragma once

#include <array>
#include <vector>

#include "sim/checks/outstanding.h"
#include "sim/state/checker.h"

namespace nereid::sim {

class Program;

/// Finds two waves of a workgroup that touch the same byte of LDS, one of them writing, without order. The
/// first access is before the second when its own wave has waited for it (s_waitcnt) and both waves have met
/// at a barrier after that. Atomics need no order between each other.
class LdsRaceChecker : public Checker {
public:
  explicit LdsRaceChecker(const Program &program);

  std::unique_ptr<Checker> fork(LaunchState &) const override {
    return std::make_unique<LdsRaceChecker>(*this);
  }

  void begin(Workgroup &group, std::span<const std::unique_ptr<Wave>> waves) override;
  void before(Wave &wave, const Instruction &instruction) override;
  void access(Wave &wave, const Instruction &instruction, const MemoryAccess &access) override;
  void barrier(Workgroup &group) override;

private:
  /// An access since the last barrier, or one before it that was not complete then.
  struct Record {
    Ticket ticket;
    uint32_t instruction;
    MemoryAccess::Kind kind;
    uint8_t bytes;
    bool before_barrier;
    uint64_t lanes;
    std::array<uint32_t, lane_count> address;

    bool touches(uint32_t byte) const;
  };
  struct State {
    Outstanding outstanding;
    Ticket last; ///< of the instruction that runs
    std::vector<Record> records;
  };

  /// A byte's writers since the last barrier: none, one wave (its index + 1), or several with atomics.
  static constexpr uint8_t atomic = 0x80, several = 0x7F | atomic;
  static constexpr unsigned page = 1024;

  template <unsigned Bytes> bool mark(uint32_t address, MemoryAccess::Kind kind, unsigned wave);
  template <unsigned Bytes> uint64_t mark_lanes(const Record &record, unsigned wave);
  /// Enters an access into the bytes' states; returns the lanes that touch what another wave does.
  uint64_t mark_record(const Record &record, unsigned wave);
  /// Lanes of a store that write what is there already, as waves do that hold the same values: whichever wave
  /// is last, the bytes are the same. Bytes that another wave reads are not among them.
  uint64_t repeated_values(const Wave &wave, const Instruction &instruction, const Record &record) const;
  /// Resets the states of all bytes.
  void forget();
  /// Raises the fault of a lane that `mark_record` returned.
  void report(Wave &wave, const Record &record, unsigned lane);
  /// The last access of another wave that touches the byte and must be in order with `record`.
  const Record *find_other(const Record &record, uint32_t byte, const State &other) const;

  const Program &program_;            ///< also that of a copy of the launch
  std::vector<WaitCounter> counters_; ///< of each instruction
  std::vector<bool> waits_;
  std::vector<State> states_;     ///< of the waves
  std::vector<uint8_t> writer_;   ///< of each byte of LDS
  std::vector<uint16_t> readers_; ///< bit: wave
  std::vector<bool> used_;        ///< pages with any state
};

} // namespace nereid::sim
