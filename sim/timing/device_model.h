#pragma once

#include "sim/launch/launch_time.h"
#include "sim/timing/launch_profile.h"

namespace nereid::sim {

/// The constants of the device that are fitted to measured times (docs/timing.md). Twelve at most.
struct DeviceModel {
  double launch_us = 2.0;         ///< an empty kernel's device time; set, not fitted
  double round_us = 0.1;          ///< start of a round of workgroups beyond what its instructions take
  double unit_load_rate = 79.7;   ///< bytes/ns that a compute unit's loads return from HBM: bytes in flight
                                  ///< over the loaded round trip
  double mall_gain = 0.48;        ///< by how much that rate is higher when the MALL has the lines
  double fabric_rate = 1430;      ///< bytes/ns into the L2 of an XCD
  double hbm_rate = 9600;         ///< bytes/ns
  double store_rate = 4280;       ///< bytes/ns of all stores
  double epilogue_overlap = 0.43; ///< share of an epilogue that hides under the next round
  double step_cycles = 133; ///< barriers and bubbles of a loop iteration that the compute unit's model lacks
  double power_flop_rate = 14.1e6; ///< flop/ns of all MFMAs that the power limit allows
  double campaign_us = 0;          ///< offset of a campaign of measurements; calibration only
};

/// The share of a launch's lines that the MALL has when it starts.
double share_in_mall(CacheState caches, double footprint_bytes);

/// Microseconds of a launch: rounds one after the other, in each phase the root of the sum of squares of what
/// the unit's instructions, its loads, the fabric, HBM and power take.
double launch_us(const LaunchProfile &profile, CacheState caches, const DeviceModel &model = {});

/// The same time with what it goes to.
LaunchTime launch_time(const LaunchProfile &profile, CacheState caches, const DeviceModel &model = {});

} // namespace nereid::sim
