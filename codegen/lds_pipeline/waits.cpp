// Waits of loops over LDS, and what holds instructions on their side of them.
#include "codegen/lds_pipeline/waits.h"

#include <algorithm>

#include <llvm/IR/IntrinsicsAMDGPU.h>

#include "codegen/target/gfx950.h"

namespace nereid::codegen {

void order_barrier(llvm::IRBuilder<> &builder, unsigned may_cross) {
  builder.CreateIntrinsic(llvm::Intrinsic::amdgcn_sched_barrier, {}, {builder.getInt32(may_cross)});
}

void wait(llvm::IRBuilder<> &builder, unsigned vector_memory, bool lds) {
  constexpr unsigned no_export_wait = 7 << 4, all_lds = 15;
  const unsigned counted = std::min(vector_memory, gfx950::max_vmcnt - 1);
  const unsigned counts = (counted & 15) | (counted >> 4) << 14 | no_export_wait | (lds ? 0 : all_lds) << 8;
  builder.CreateIntrinsic(llvm::Intrinsic::amdgcn_s_waitcnt, {}, {builder.getInt32(counts)});
}

void meet_all_waves(llvm::IRBuilder<> &builder) {
  wait(builder, 0, true);
  builder.CreateIntrinsic(llvm::Intrinsic::amdgcn_s_barrier, {});
  order_barrier(builder, nothing_crosses);
}

} // namespace nereid::codegen
