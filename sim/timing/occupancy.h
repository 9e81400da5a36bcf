#pragma once

#include <cstdint>

#include "sim/launch/launch_state.h"

namespace nereid::sim::timing {

/// Workgroups of a launch that fit into one compute unit: by waves, vector registers and LDS; at least 1.
unsigned workgroups_of_unit(const LaunchState &state);

} // namespace nereid::sim::timing
