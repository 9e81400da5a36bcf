#pragma once

#include "nereid/nereid.h"

namespace nereid::test {

struct AddConfig {
  int block = 1024;
  int waves = 4;
  NEREID_CONFIG(AddConfig, block, waves)
};

/// z = x + y; one program for each block.
inline void add(const AddConfig &c, Ptr<const f32> x, Ptr<const f32> y, Ptr<f32> z, Int n) {
  Tile<i32> i = program_id(0) * c.block + arange(0, c.block);
  Tile<i1> in_range = i < n;
  store(z + i, load(x + i, in_range) + load(y + i, in_range), in_range);
}

/// Copies without a mask: out of bounds when the grid covers more than the buffers.
inline void copy_unmasked(const AddConfig &c, Ptr<const f32> x, Ptr<f32> z) {
  Tile<i32> i = program_id(0) * c.block + arange(0, c.block);
  store(z + i, load(x + i));
}

/// Stores n after asserting that it is below 100.
inline void asserting(const AddConfig &, Ptr<i32> out, Int n) {
  device_assert(n < 100, "n is below one hundred");
  store(out, n);
}

inline uint32_t programs(int n, const AddConfig &config) {
  return static_cast<uint32_t>((n + config.block - 1) / config.block);
}

} // namespace nereid::test
