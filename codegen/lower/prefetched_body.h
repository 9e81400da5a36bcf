#pragma once

#include <algorithm>

#include "codegen/plan/kernel_plan.h"

namespace nereid::codegen {

/// Whether an operation stands in the body of a loop with LDS prefetch, itself and not in a region of it.
inline bool is_in_lds_prefetch(const KernelPlan &plan, const ir::Op &op) {
  const ir::Block *block = plan.index.block(op);
  return std::any_of(plan.loops.begin(), plan.loops.end(), [&](const LoopPlan &loop) {
    return block == &loop.op->blocks.front() && std::holds_alternative<LdsPrefetch>(loop.schedule);
  });
}

} // namespace nereid::codegen
