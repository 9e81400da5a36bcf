#include <llvm/IR/IntrinsicsAMDGPU.h>

#include "codegen/lower/lowering.h"

namespace nereid::codegen {

/// All exchanges share one array from its start; `barrier` stands between them.
llvm::Value *Lowering::lds(unsigned bytes) {
  if (!lds_)
    lds_ = new llvm::GlobalVariable(context_.module, builder_.getInt8Ty(), false,
                                    llvm::GlobalValue::InternalLinkage,
                                    llvm::PoisonValue::get(builder_.getInt8Ty()), "lds.unsized", nullptr,
                                    llvm::GlobalValue::NotThreadLocal, 3);
  lds_bytes_ = std::max(lds_bytes_, (bytes + 15) / 16 * 16);
  return lds_;
}

/// Everything that the workgroup's waves did to memory before is seen by all of them after.
void Lowering::barrier() {
  if (wave_split_loop_)
    return fail(
        user_error("wave_split=k cannot deal the rounds of this loop to the waves: a round needs values "
                   "of other waves",
                   "use wave_split=auto", function_.place(*wave_split_loop_)));
  llvm::SyncScope::ID workgroup = builder_.getContext().getOrInsertSyncScopeID("workgroup");
  builder_.CreateFence(llvm::AtomicOrdering::Release, workgroup);
  builder_.CreateIntrinsic(llvm::Intrinsic::amdgcn_s_barrier, {});
  builder_.CreateFence(llvm::AtomicOrdering::Acquire, workgroup);
  accesses_.clear();
}

} // namespace nereid::codegen
