#pragma once

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
  void access(sim::Wave &wave, const sim::Instruction &instruction, const sim::MemoryAccess &access) override;

  const std::optional<GlobalAccess> &global(size_t index) const { return global_[index]; }
  const std::optional<LdsAccess> &lds(size_t index) const { return lds_[index]; }

private:
  std::vector<std::optional<GlobalAccess>> global_;
  std::vector<std::optional<LdsAccess>> lds_;
};

} // namespace nereid::inspect
