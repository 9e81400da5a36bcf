// Which constants of the device model are fitted.
#include "tools/calibrate/parameters.h"

namespace nereid::calibrate {

using sim::DeviceModel;

std::span<const Parameter> parameters() {
  static const Parameter all[] = {
      {"launch_us", "us", &DeviceModel::launch_us, 0.5, 3},
      {"unit_load_rate", "bytes/ns", &DeviceModel::unit_load_rate, 10, 1000},
      {"mall_gain", "", &DeviceModel::mall_gain, 0, 3},
      {"fabric_rate", "bytes/ns", &DeviceModel::fabric_rate, 100, 20000},
      {"hbm_rate", "bytes/ns", &DeviceModel::hbm_rate, 2000, 100000},
      {"store_rate", "bytes/ns", &DeviceModel::store_rate, 500, 50000},
      {"epilogue_overlap", "", &DeviceModel::epilogue_overlap, 0, 1},
      {"power_flop_rate", "flop/ns", &DeviceModel::power_flop_rate, 2e6, 100e6},
      {"campaign_us", "us", &DeviceModel::campaign_us, 0, 5},
  };
  static_assert(std::size(all) <= 12);
  return all;
}

} // namespace nereid::calibrate
