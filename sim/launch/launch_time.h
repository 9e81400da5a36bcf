#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace nereid::sim {

/// Whether a launch is timed.
enum class Timing : uint8_t {
  Off,
  On,   ///< runs and is timed
  Only, ///< is timed from a few of its workgroups; memory stays as it was
};

/// What the caches hold when a timed launch starts.
enum class CacheState : uint8_t {
  Cold,     ///< nothing, nor the code: all first reads come from HBM
  Warm,     ///< what an earlier run of the same launch left in the MALL, and the code
  Rotating, ///< the launch before used another copy of all buffers, of which there are `rotating_copies`
};

/// In the order of the enum; launch files and command lines have them.
inline constexpr std::array<std::string_view, 3> cache_state_names = {"cold", "warm", "rotating"};

constexpr std::optional<CacheState> cache_state_named(std::string_view name) {
  for (size_t i = 0; i < cache_state_names.size(); ++i)
    if (cache_state_names[i] == name)
      return static_cast<CacheState>(i);
  return std::nullopt;
}

/// Copies of all arguments that AMD's tuner rotates, so that small launches find theirs in the MALL
/// (op_tests of aiter).
inline constexpr unsigned rotating_copies = 101;

/// The time of one launch on an MI355X as the timing model computes it (docs/timing.md). Simulated, not
/// measured.
struct LaunchTime {
  double us = 0;                   ///< device time, launch included
  double cycles_per_workgroup = 0; ///< core clocks of the longest workgroup, first to last instruction
  double clock_ghz = 0;            ///< mean core clock; below the peak where power limits
  /// What takes most of the time: "launch", "latency", "issue", "mfma", "lds", "vector memory", "fabric",
  /// "hbm", "stores" or "power".
  std::string limit;
  /// Share of the waves' time by reason, 0 to 1, summing to 1: "issue", "mfma", "lds", "vector memory", ...
  std::map<std::string, double> stalls;
  uint64_t l2_bytes = 0;   ///< between compute units and L2
  uint64_t mall_bytes = 0; ///< between L2 and the MALL
  uint64_t hbm_bytes = 0;  ///< between the MALL and HBM
  uint64_t workgroups = 0; ///< of the launch
  /// Workgroups that were executed to their ends. With Timing::Only it may be a few, which stand for all.
  uint64_t executed_workgroups = 0;
  /// The few differ from each other or from the launch's last workgroup, so that the time may be far off.
  bool looks_uneven = false;

  /// What a reader of the time has to know of the few, a sentence; empty where all workgroups were executed.
  std::string note() const;
};

} // namespace nereid::sim
