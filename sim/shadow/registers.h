#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "sim/state/effects.h"

namespace nereid::sim {

/// Calls `function(register)` for each register of some ranges.
template <class F> void each_register(const std::vector<RegisterRange> &ranges, F function) {
  for (const RegisterRange &range : ranges)
    for (unsigned reg = range.first; reg < unsigned{range.first} + range.count; ++reg)
      function(reg);
}

/// The same for scalar registers that are given as a bit each, until `function` returns true.
template <class F> bool any_scalar_register(uint64_t low, uint64_t high, F function) {
  for (unsigned half = 0; half < 2; ++half)
    for (uint64_t left = half ? high : low; left; left &= left - 1)
      if (function(64 * half + static_cast<unsigned>(std::countr_zero(left))))
        return true;
  return false;
}
template <class F> void each_scalar_register(uint64_t low, uint64_t high, F function) {
  any_scalar_register(low, high, [&](unsigned reg) {
    function(reg);
    return false;
  });
}
template <class F> void each_scalar_register(const std::array<uint64_t, 2> &registers, F function) {
  each_scalar_register(registers[0], registers[1], function);
}

} // namespace nereid::sim
