#pragma once

#include <vector>

#include "tools/calibrate/measurement.h"

namespace nereid::calibrate::test {

/// Products of a few tiles and pairs (N,K), every third of the early campaign, with counted profiles and the
/// times that `model` says: nothing but the model's constants is unknown.
std::vector<Sample> synthetic_samples(const sim::DeviceModel &model);

} // namespace nereid::calibrate::test
