#pragma once

#include "base/result.h"
#include "sim/machine.h"
#include "sim/memory.h"
#include "tools/calibrate/measurement.h"

namespace nereid::calibrate {

/// The launch of a tile's kernel for a shape, without split-K: its grid, block and argument block, with
/// buffers that are allocated in `memory` and not filled. Error (User): they do not fit into the device.
Result<sim::Launch> product_launch(const std::string &kernel, const Tile &tile, const Shape &shape,
                                   sim::Memory &memory);

} // namespace nereid::calibrate
