#pragma once

#include <bit>
#include <cstdint>

namespace nereid::sim {

/// Calls `function(lane)` for each lane of a mask, in increasing order.
template <class F> void each_lane(uint64_t lanes, F function) {
  for (; lanes; lanes &= lanes - 1)
    function(static_cast<unsigned>(std::countr_zero(lanes)));
}

} // namespace nereid::sim
