#pragma once

#include <array>
#include <vector>

#include "sim/checks/hazard_table.h"
#include "sim/state/checker.h"

namespace nereid::sim {

class Program;

/// Finds pairs of instructions with fewer wait states between them than the hardware needs
/// (sim/hazard_table.h).
class HazardChecker : public Checker {
public:
  explicit HazardChecker(const Program &program);

  std::unique_ptr<Checker> fork(LaunchState &) const override {
    return std::make_unique<HazardChecker>(*this);
  }

  void begin(Workgroup &group, std::span<const std::unique_ptr<Wave>> waves) override;
  void before(Wave &wave, const Instruction &instruction) override;

private:
  /// Of one instruction: the rows of the table in which it can be the first and the second, as bits.
  struct Facts {
    uint32_t first_rows = 0;
    uint32_t second_rows = 0;
    uint8_t states = 1;        ///< wait states that it makes
    uint8_t passes = 0;        ///< of a matrix operation but those on f32 and f64
    bool packed_float = false; ///< v_pk_*_f32
  };
  static constexpr unsigned kept = 32;
  static constexpr uint64_t unknown = ~uint64_t{0};
  /// Of one wave. What lies `hazard_reach` states before an instruction depends on its place alone when no
  /// jump lies between, and on the place and the jump when one does; each is examined once.
  struct State {
    std::array<uint32_t, kept> recent; ///< the last instructions, a ring
    uint32_t executed = 0;
    uint32_t next = 0;         ///< the instruction behind the last one
    unsigned run = 0;          ///< states since the last jump, at most hazard_reach
    uint32_t jump = 0;         ///< the instruction that jumped
    bool run_was_long = false; ///< hazard_reach states before that jump there was none
  };

  uint64_t history(const State &state) const;
  void examine(Wave &wave, const State &state);
  const Facts &recent(const State &state, uint32_t back) const {
    return facts_[state.recent[(state.executed - back) % kept]];
  }
  /// The wait states between the instruction `back` places before and `now`, as they pass in time.
  unsigned states_since(const State &state, uint32_t back, const Facts &now) const;

  const Program &program_; ///< also that of a copy of the launch
  std::vector<Facts> facts_;
  std::vector<uint64_t> examined_; ///< the history with which an instruction was found to be right
  std::vector<State> states_;
};

} // namespace nereid::sim
