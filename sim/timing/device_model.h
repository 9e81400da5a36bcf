#pragma once

#include "sim/launch/launch_time.h"
#include "sim/timing/launch_profile.h"

namespace nereid::sim {

/// The constants of the device that are fitted to measured times (docs/timing.md). Twelve at most.
struct DeviceModel {
  double launch_us = 1.95;          ///< an empty kernel's device time
  double unit_load_rate = 80.1;     ///< bytes/ns that a compute unit's loads return from HBM: bytes in flight
                                    ///< over the loaded round trip
  double mall_gain = 0.261;         ///< by how much that rate is higher when the MALL has the lines
  double fabric_rate = 1609;        ///< bytes/ns into the L2 of an XCD
  double hbm_rate = 8090;           ///< bytes/ns
  double store_rate = 5580;         ///< bytes/ns of all stores
  double epilogue_overlap = 0.286;  ///< share of an epilogue that hides under the next round
  double power_flop_rate = 12.69e6; ///< flop/ns of MFMAs on FP4 that the power limit allows
  double campaign_us = 0;           ///< offset of a campaign of measurements; calibration only
};

/// The share of a launch's lines that the MALL has when it starts.
double share_in_mall(CacheState caches, double footprint_bytes);

/// Microseconds of a launch: rounds one after the other, in each phase the root of the sum of squares of what
/// the unit's instructions, its loads, the fabric, HBM and power take.
double device_us(const LaunchProfile &profile, CacheState caches, const DeviceModel &model = {});

/// The same time with what it goes to.
LaunchTime launch_time(const LaunchProfile &profile, CacheState caches, const DeviceModel &model = {});

} // namespace nereid::sim
