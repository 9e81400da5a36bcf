#pragma once

#include <cstdint>

namespace nereid::sim {

/// Executed wave instructions by category; a load to LDS counts as vmem_load.
struct InstructionCounts {
  uint64_t total = 0, mfma = 0, valu = 0, salu = 0, smem = 0, lds = 0, vmem_load = 0, vmem_store = 0,
           vmem_atomic = 0, barrier = 0, waitcnt = 0, branch = 0, other = 0;
};

} // namespace nereid::sim
