#pragma once

#include "tools/calibrate/measurement.h"

namespace nereid::calibrate {

/// Whether the public table of MI355X times has this row from its early campaign, published by 2025-09-15.
/// The same kernels took 16 % less (median, below 20 us) when they were measured again later, and the same
/// above 30 us: a state of clocks or fabric that no kernel knows of.
bool measured_early(const Shape &shape);

/// What the early campaign's launches take longer, as fitted (docs/timing.md).
inline constexpr double early_offset_us = 1.23;

} // namespace nereid::calibrate
