#pragma once

#include <cstddef>
#include <vector>

#include "sim/decode/program.h"
#include "sim/timing/trace.h"

namespace nereid::sim::timing {

/// The part of a wave's instructions that lies in its hot loop: the loop that executes the most of them. A
/// wave without a loop has an empty part before its first store.
struct HotLoop {
  size_t first = 0; ///< index of an event
  size_t last = 0;  ///< behind the last one
};

HotLoop hot_loop(const std::vector<TraceEvent> &events, const Program &program);

} // namespace nereid::sim::timing
