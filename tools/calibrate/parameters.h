#pragma once

#include <span>

#include "sim/timing/device_model.h"

namespace nereid::calibrate {

/// A constant of the device model that is fitted, and the range it may have.
struct Parameter {
  const char *name;
  const char *unit;
  double sim::DeviceModel::*member;
  double lower, upper;
};

/// All of them: twelve at most.
std::span<const Parameter> parameters();

} // namespace nereid::calibrate
