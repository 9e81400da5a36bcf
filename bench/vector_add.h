#pragma once

#include "dsl/dsl.h"

namespace nereid {

/// The simple kernel of the benchmarks.
struct AddConfig {
  int block = 1024;
  int waves = 4;
  NEREID_CONFIG(AddConfig, block, waves)
};

inline void add(const AddConfig &c, Ptr<const f32> x, Ptr<const f32> y, Ptr<f32> z, Int n) {
  const Tile<i32> i = program_id(0) * c.block + arange(0, c.block);
  const Tile<i1> in_range = i < n;
  store(z + i, load(x + i, in_range) + load(y + i, in_range), in_range);
}

} // namespace nereid
