#pragma once

#include <cstdint>

namespace nereid::codegen {

/// The lowest `count` bits; all of them from 64 up.
constexpr uint64_t low_mask(unsigned count) {
  return count >= 64 ? ~uint64_t(0) : (uint64_t(1) << count) - 1;
}

} // namespace nereid::codegen
