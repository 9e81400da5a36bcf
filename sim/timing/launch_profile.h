#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace nereid::sim {

/// Raised whenever the profile of a launch changes, so that profiles that were kept are not mistaken for it.
inline constexpr int profile_version = 9;

/// What one phase of the workgroups that share a compute unit needs: before, in, or after their hot loop.
struct PhaseProfile {
  double cycles = 0;       ///< core clocks, with memory at its idle latency and bandwidth without end
  double mfma_cycles = 0;  ///< clocks in which the busiest matrix core works
  double issue_cycles = 0; ///< clocks in which the busiest SIMD issues
  double lds_cycles = 0;   ///< clocks in which the LDS serves
  double load_bytes = 0;   ///< that vector loads of the unit with most of them return; what a range check
                           ///< drops is none
  double store_bytes = 0;  ///< that its stores and atomics send
  double fabric_bytes = 0; ///< of distinct lines that an XCD fetches into its L2, mean over the XCDs
  double hbm_bytes = 0;    ///< of distinct lines that the device fetches for the first time
  double matrix_flop = 0; ///< of the unit's MFMAs, mean; of formats slower than FP4 what FP4 does in the time
};

/// Workgroups that run side by side: one for each place of the device.
struct RoundProfile {
  uint64_t repeats = 1;       ///< how many rounds are alike
  uint64_t workgroups = 0;    ///< of the device
  uint64_t compute_units = 0; ///< that have work, at most 256
  double loaded_bytes = 0;    ///< by vector loads of all units
  enum Phase { Prologue, Loop, Epilogue };
  std::array<PhaseProfile, 3> phases;
  std::map<std::string, double> stalls; ///< clocks of waves by reason, summed over the unit's waves
};

/// All that the model of the device (sim/timing/device_model.h) takes from a launch: no constant of the
/// device's bandwidths is in it, so that they can be fitted without simulating again.
struct LaunchProfile {
  std::vector<RoundProfile> rounds; ///< in order of time
  double footprint_bytes = 0;       ///< of distinct lines that the whole launch touches
  double cycles_per_workgroup = 0;  ///< of the longest, with memory at its idle latency
};

} // namespace nereid::sim
