#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "sim/state/checks.h"

namespace nereid::hip_sim {

/// What goes to stderr.
enum class LogLevel { None, Faults, Errors, Calls };

/// What the environment says (docs/hip-on-simulator.md has the variables).
struct Options {
  int devices = 1;
  uint64_t memory = uint64_t{288} << 30;           ///< bytes of a device
  uint64_t instruction_budget = uint64_t{1} << 32; ///< wave instructions of a launch
  sim::Checks checks;
  LogLevel log = LogLevel::Faults;
  bool timing = false;  ///< events carry simulated time
  bool launches = true; ///< false: launches do nothing
  bool eager = false;   ///< work runs when it is queued

  /// Errors name the variable.
  static Result<Options> from_environment();
};

} // namespace nereid::hip_sim
