#pragma once

#include <llvm/IR/IRBuilder.h>

namespace nereid::codegen {

/// What may cross a scheduling barrier, as bits of s_sched_barrier's mask (LLVM's AMDGPUUsage).
inline constexpr unsigned nothing_crosses = 0, arithmetic_crosses = 6, only_vector_memory_stays = 0x38f;

void order_barrier(llvm::IRBuilder<> &builder, unsigned may_cross);

/// Until at most so many vector memory instructions are outstanding (as far as these are counted) and, with
/// `lds`, no LDS instruction.
void wait(llvm::IRBuilder<> &builder, unsigned vector_memory, bool lds);

/// All that the waves did to LDS is over, and stands after this.
void meet_all_waves(llvm::IRBuilder<> &builder);

} // namespace nereid::codegen
