#include <llvm/IR/IntrinsicsAMDGPU.h>

#include "codegen/lower/lowering.h"

namespace nereid::codegen {

/// All exchanges share one array from its start; `barrier` stands between them.
llvm::Value *Lowering::lds(unsigned bytes) {
  if (!lds_)
    lds_ = new llvm::GlobalVariable(module_, builder_.getInt8Ty(), false, llvm::GlobalValue::InternalLinkage,
                                    llvm::PoisonValue::get(builder_.getInt8Ty()), "lds.unsized", nullptr,
                                    llvm::GlobalValue::NotThreadLocal, 3);
  lds_bytes_ = std::max(lds_bytes_, (bytes + 15) / 16 * 16);
  return lds_;
}

/// Everything that the workgroup's waves did to memory before is seen by all of them after.
void Lowering::barrier() {
  if (wave_split_loop_)
    return fail(*wave_split_loop_, "a loop that is split over the waves needs other waves in an iteration",
                "use wave_split=n, and please report the kernel");
  llvm::SyncScope::ID workgroup = context_.getOrInsertSyncScopeID("workgroup");
  builder_.CreateFence(llvm::AtomicOrdering::Release, workgroup);
  builder_.CreateIntrinsic(llvm::Intrinsic::amdgcn_s_barrier, {});
  builder_.CreateFence(llvm::AtomicOrdering::Acquire, workgroup);
  accesses_.clear();
}

/// Moves a value of any width by a function of dwords.
llvm::Value *Lowering::by_dwords(llvm::Value *value,
                                 const std::function<llvm::Value *(llvm::Value *)> &move) {
  llvm::Type *type = value->getType();
  llvm::Value *bits = to_bits(value);
  unsigned width = bits->getType()->getIntegerBitWidth();
  if (width <= 32) {
    llvm::Value *moved = move(builder_.CreateZExt(bits, builder_.getInt32Ty()));
    return from_bits(builder_.CreateTrunc(moved, bits->getType()), type);
  }
  llvm::Value *low = move(builder_.CreateTrunc(bits, builder_.getInt32Ty()));
  llvm::Value *high = move(builder_.CreateTrunc(builder_.CreateLShr(bits, 32), builder_.getInt32Ty()));
  llvm::Value *whole =
      builder_.CreateOr(builder_.CreateZExt(low, builder_.getInt64Ty()),
                        builder_.CreateShl(builder_.CreateZExt(high, builder_.getInt64Ty()), 32));
  return from_bits(whole, type);
}

llvm::Value *Lowering::uniform(llvm::Value *value) {
  return by_dwords(value, [&](llvm::Value *dword) {
    return builder_.CreateIntrinsic(llvm::Intrinsic::amdgcn_readfirstlane, {builder_.getInt32Ty()}, {dword});
  });
}

/// The value of the lane whose number differs in one bit.
llvm::Value *Lowering::shuffle_xor(llvm::Value *value, unsigned lane_bit) {
  constexpr unsigned quad_xor_1 = 0xb1, quad_xor_2 = 0x4e, quad_xor_3 = 0x1b, half_mirror = 0x141,
                     rotate_8 = 0x128;
  auto dpp = [&](llvm::Value *dword, unsigned control) {
    return builder_.CreateIntrinsic(llvm::Intrinsic::amdgcn_update_dpp, {builder_.getInt32Ty()},
                                    {llvm::PoisonValue::get(builder_.getInt32Ty()), dword,
                                     builder_.getInt32(control), builder_.getInt32(15), builder_.getInt32(15),
                                     builder_.getTrue()});
  };
  return by_dwords(value, [&](llvm::Value *dword) -> llvm::Value * {
    switch (lane_bit) {
    case 0:
      return dpp(dword, quad_xor_1);
    case 1:
      return dpp(dword, quad_xor_2);
    case 2: // within 8 lanes, xor 7 and then xor 3
      return dpp(dpp(dword, half_mirror), quad_xor_3);
    case 3:
      return dpp(dword, rotate_8);
    default: {
      llvm::Value *pair = builder_.CreateIntrinsic(lane_bit == 4 ? llvm::Intrinsic::amdgcn_permlane16_swap
                                                                 : llvm::Intrinsic::amdgcn_permlane32_swap,
                                                   {dword, dword, builder_.getFalse(), builder_.getFalse()});
      llvm::Value *low = builder_.CreateExtractValue(pair, 0);
      llvm::Value *high = builder_.CreateExtractValue(pair, 1);
      return builder_.CreateSelect(test_bits(lane_, 1u << lane_bit), high, low);
    }
    }
  });
}

} // namespace nereid::codegen
