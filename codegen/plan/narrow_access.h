#pragma once

#include <vector>

#include "codegen/plan/kernel_plan.h"

namespace nereid::codegen {

/// A load or store that would move more bytes at a time if the launch knew more of arguments.
struct NarrowAccess {
  const ir::Op *op;
  unsigned bytes;                ///< of a lane at a time
  unsigned possible;             ///< bytes, were the arguments multiples of `wanted_divisibility`
  std::vector<size_t> arguments; ///< those that matter
};

/// What a launch looks for in integers and addresses.
inline constexpr int64_t wanted_divisibility = 16;

/// In the order of the function.
std::vector<NarrowAccess> narrow_accesses(const KernelPlan &plan);

} // namespace nereid::codegen
