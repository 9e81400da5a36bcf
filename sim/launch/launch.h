#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sim/launch/instruction_counts.h"
#include "sim/launch/launch_time.h"
#include "sim/object/line_table.h"
#include "sim/state/checks.h"
#include "sim/state/fault.h"

namespace nereid::sim {

struct Instruction;
struct Wave;

/// Bytes of the longest argument block.
inline constexpr uint32_t max_kernarg_size = 1 << 20;

/// Sees a wave before each instruction that it executes. Called on several host threads at once unless the
/// launch has one; it may read the wave's state (sim/wave.h) and must not change it.
using Observer = std::function<void(const Wave &, const Instruction &)>;

/// One launch of a kernel.
struct Launch {
  std::string kernel;                     ///< may be empty when the code object has one
  std::array<uint32_t, 3> grid{1, 1, 1};  ///< workgroups
  std::array<uint32_t, 3> block{1, 1, 1}; ///< work-items of a workgroup
  /// The explicit arguments as the metadata lays them out; missing bytes are zero. Hidden ones are filled in.
  std::vector<std::byte> kernarg;
  /// Bytes of the argument block; what the metadata says when not given.
  std::optional<uint32_t> kernarg_size;
  uint32_t dynamic_lds = 0; ///< bytes in addition to the kernel's own
  /// Wave instructions of all waves after which the run ends with a fault.
  uint64_t instruction_budget = uint64_t{1} << 40;
  unsigned threads = 0; ///< of the host; 0: all cores
  /// Lets workgroups with float atomics run in any order; otherwise they run one after the other, so that
  /// their sums have the same bits every time.
  bool any_order = false;
  Timing timing = Timing::Off;
  CacheState caches = CacheState::Cold; ///< of a timed launch
  Checks checks;
  Observer observer; ///< may be empty
};

/// What stopped a run.
struct Fault {
  FaultKind kind = FaultKind::Unsupported;
  uint64_t address = 0;    ///< of the instruction, in the code object
  std::string instruction; ///< assembler text
  SourceLine line;         ///< from the line table, when there is one
  std::array<uint32_t, 3> workgroup{};
  unsigned wave = 0;
  int lane = -1; ///< -1: no single lane
  std::string text;
  std::optional<uint64_t> memory; ///< the address that cannot be accessed

  /// The fault as an error of owner Device.
  Error error() const;
};

struct Report {
  InstructionCounts counts;
  uint64_t waves = 0;
  uint64_t longest_wave_instructions = 0;
  double wall_seconds = 0;
  std::optional<LaunchTime> time; ///< when the launch asked for it and nothing faulted
  std::optional<Fault> fault;
  /// Why a launch that ran without a fault and asked for a time has none: what stopped a workgroup that was
  /// executed again for it.
  std::optional<Fault> untimed;
};

} // namespace nereid::sim
