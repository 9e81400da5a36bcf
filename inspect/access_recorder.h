#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "inspect/report.h"
#include "sim/state/checker.h"

namespace nereid::inspect {

/// What the memory instructions of one workgroup touch, by index in the program.
class AccessRecorder final : public sim::Checker {
public:
  explicit AccessRecorder(size_t instructions) : global_(instructions), lds_(instructions) {}
  std::unique_ptr<sim::Checker> fork(sim::LaunchState &) const override { return nullptr; }
  void before(sim::Wave &wave, const sim::Instruction &) override { is_new_[wave.index] = {true, true}; }
  void access(sim::Wave &wave, const sim::Instruction &instruction, const sim::MemoryAccess &access) override;

  const std::optional<GlobalAccess> &global(size_t index) const { return global_[index]; }
  const std::optional<LdsAccess> &lds(size_t index) const { return lds_[index]; }

private:
  /// Whether a wave's instruction has not been seen to touch global memory, and the LDS: it may touch two
  /// locations a lane, or both.
  struct IsNew {
    bool global = false, lds = false;
  };

  std::vector<std::optional<GlobalAccess>> global_;
  std::vector<std::optional<LdsAccess>> lds_;
  std::array<IsNew, sim::max_waves> is_new_;
};

} // namespace nereid::inspect
