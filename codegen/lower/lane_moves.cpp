// Values that cross the lanes of a wave: DPP, permlane swaps, readfirstlane.
#include "codegen/lower/lane_moves.h"

#include <llvm/IR/IntrinsicsAMDGPU.h>

#include "codegen/lower/thread_position.h"

namespace nereid::codegen {

llvm::Value *to_bits(llvm::IRBuilder<> &builder, llvm::Value *value) {
  llvm::Type *type = value->getType();
  if (type->isPointerTy())
    return builder.CreatePtrToInt(value, builder.getInt64Ty());
  if (type->isIntegerTy())
    return value;
  return builder.CreateBitCast(value, builder.getIntNTy(type->getPrimitiveSizeInBits()));
}

llvm::Value *from_bits(llvm::IRBuilder<> &builder, llvm::Value *bits, llvm::Type *type) {
  if (type->isPointerTy())
    return builder.CreateIntToPtr(bits, type);
  return builder.CreateBitCast(bits, type);
}

llvm::Value *low_dword(llvm::IRBuilder<> &builder, llvm::Value *bits) {
  return builder.CreateTrunc(bits, builder.getInt32Ty());
}

llvm::Value *high_dword(llvm::IRBuilder<> &builder, llvm::Value *bits) {
  return builder.CreateTrunc(builder.CreateLShr(bits, 32), builder.getInt32Ty());
}

llvm::Value *join_dwords(llvm::IRBuilder<> &builder, llvm::Value *low, llvm::Value *high) {
  llvm::Value *upper = builder.CreateShl(builder.CreateZExt(high, builder.getInt64Ty()), 32);
  return builder.CreateOr(builder.CreateZExt(low, builder.getInt64Ty()), upper);
}

llvm::Value *by_dwords(llvm::IRBuilder<> &builder, llvm::Value *value,
                       const std::function<llvm::Value *(llvm::Value *)> &move) {
  llvm::Type *type = value->getType();
  llvm::Value *bits = to_bits(builder, value);
  if (bits->getType()->getIntegerBitWidth() <= 32) {
    llvm::Value *moved = move(builder.CreateZExt(bits, builder.getInt32Ty()));
    return from_bits(builder, builder.CreateTrunc(moved, bits->getType()), type);
  }
  llvm::Value *low = move(low_dword(builder, bits));
  llvm::Value *high = move(high_dword(builder, bits));
  return from_bits(builder, join_dwords(builder, low, high), type);
}

llvm::Value *to_scalar_registers(llvm::IRBuilder<> &builder, llvm::Value *value) {
  return by_dwords(builder, value, [&](llvm::Value *dword) {
    return builder.CreateIntrinsic(llvm::Intrinsic::amdgcn_readfirstlane, {builder.getInt32Ty()}, {dword});
  });
}

llvm::Value *shuffle_xor(EmitContext &context, llvm::Value *value, unsigned lane_bit) {
  constexpr unsigned quad_xor_1 = 0xb1, quad_xor_2 = 0x4e, quad_xor_3 = 0x1b, half_mirror = 0x141,
                     rotate_8 = 0x128;
  llvm::IRBuilder<> &builder = context.builder;
  auto dpp = [&](llvm::Value *dword, unsigned control) {
    return builder.CreateIntrinsic(llvm::Intrinsic::amdgcn_update_dpp, {builder.getInt32Ty()},
                                   {llvm::PoisonValue::get(builder.getInt32Ty()), dword,
                                    builder.getInt32(control), builder.getInt32(15), builder.getInt32(15),
                                    builder.getTrue()});
  };
  return by_dwords(builder, value, [&](llvm::Value *dword) -> llvm::Value * {
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
      llvm::Value *pair = builder.CreateIntrinsic(lane_bit == 4 ? llvm::Intrinsic::amdgcn_permlane16_swap
                                                                : llvm::Intrinsic::amdgcn_permlane32_swap,
                                                  {dword, dword, builder.getFalse(), builder.getFalse()});
      llvm::Value *low = builder.CreateExtractValue(pair, 0);
      llvm::Value *high = builder.CreateExtractValue(pair, 1);
      return builder.CreateSelect(are_clear(builder, context.lane, 1u << lane_bit), high, low);
    }
    }
  });
}

} // namespace nereid::codegen
