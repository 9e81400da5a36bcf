#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "jit/compile/jit_times.h"
#include "jit/compile/resources.h"
#include "sim/launch/instruction_counts.h"
#include "sim/launch/launch_time.h"

namespace nereid {

class CompiledKernel;

/// Programs of a launch in x, y and z: at most 2^31 - 1 in x and 2^16 - 1 in y and z, as HIP has it. Any
/// integers go in, `Grid{cdiv(n, block)}`; a launch checks them.
struct Grid {
  static constexpr int64_t max_x = (int64_t{1} << 31) - 1;
  static constexpr int64_t max_y_or_z = (int64_t{1} << 16) - 1;

  int64_t x = 1;
  int64_t y = 1;
  int64_t z = 1;

  /// Error (User) when no launch can have this grid.
  Status check() const;
  /// All programs of a grid that passes the check.
  uint64_t count() const {
    return static_cast<uint64_t>(x) * static_cast<uint64_t>(y) * static_cast<uint64_t>(z);
  }
  /// The same grid as devices take it.
  std::array<uint32_t, 3> sizes() const {
    return {static_cast<uint32_t>(x), static_cast<uint32_t>(y), static_cast<uint32_t>(z)};
  }
  bool operator==(const Grid &) const = default;
};

/// Instructions of waves that a device counted, summed over all waves.
struct InstructionCounts : sim::InstructionCounts {
  uint64_t longest_wave = 0; ///< the most instructions that one wave executed; no part of the sums
};

/// What a device tells of a launch beside its effects.
struct LaunchOutcome {
  std::optional<InstructionCounts> instructions; ///< when the device counts them
  std::optional<sim::LaunchTime> time;           ///< when the device computes it
};

/// How a launch runs.
struct LaunchOptions {
  /// Run the kernel's IR on the host in place of its code; unset: as NEREID_INTERPRET says.
  std::optional<bool> interpret;
  /// Build and load the kernel as this launch would, and launch nothing: what comes before a capture, in
  /// which nothing is built.
  bool prepare = false;
};

/// What one launch was and did. On the simulator and in the interpreter the launch is over when this exists;
/// on a GPU it is queued in its stream. In a capture it is recorded, and nothing is counted or timed.
struct LaunchInfo {
  std::shared_ptr<const CompiledKernel> compiled;
  Grid grid;
  JitTimes jit;
  CacheLevel cache = CacheLevel::None;
  std::optional<InstructionCounts> instructions; ///< when the device counts them
  std::optional<sim::LaunchTime> time;           ///< simulated, when SimulatorOptions::timing asks for it
  bool interpreted = false;

  std::string kernel() const;
  std::string config() const;            ///< "block=1024,waves=4"
  std::array<uint32_t, 3> block() const; ///< work-items of a workgroup: 64 times the waves, 1, 1
  Resources resources() const;           ///< all zero when interpreted
  std::string override_file() const;     ///< CompiledKernel::override_file
};

} // namespace nereid
