// Values that cross the lanes of a wave: DPP, permlane swaps, readfirstlane.
#include "codegen/lower/lane_moves.h"

#include <llvm/IR/IntrinsicsAMDGPU.h>

#include "codegen/lower/thread_position.h"
#include "codegen/target/gfx950.h"

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

namespace {

/// Values of an instruction's DPP_CTRL.
enum DppControl : unsigned {
  QuadXor1 = 0xb1,
  QuadXor2 = 0x4e,
  QuadXor3 = 0x1b,
  FromAbove = 0x100, ///< row_shl: lane i has what lane i + n had; n is added
  FromBelow = 0x110, ///< row_shr: what lane i - n had
  HalfMirror = 0x141,
  LastOfRow = 0x142,  ///< row_bcast:15: what the last lane of the row below had
  LastOfHalf = 0x143, ///< row_bcast:31: in the upper half, what the last lane of the lower had
  Rotate8 = 0x128
};

/// In the banks of `banks` (four lanes each, of every row) the dword as `control` moves it, elsewhere
/// `other`.
llvm::Value *dpp(llvm::IRBuilder<> &builder, llvm::Value *other, llvm::Value *dword, unsigned control,
                 unsigned banks) {
  return builder.CreateIntrinsic(llvm::Intrinsic::amdgcn_update_dpp, {builder.getInt32Ty()},
                                 {other, dword, builder.getInt32(control), builder.getInt32(15),
                                  builder.getInt32(banks), builder.getTrue()});
}

llvm::Value *dpp(llvm::IRBuilder<> &builder, llvm::Value *dword, DppControl control) {
  return dpp(builder, llvm::PoisonValue::get(builder.getInt32Ty()), dword, control, 15);
}

/// Bit 4 or 5: rows of 16 lanes or halves of 32. The lanes whose bit is set have changed their `low` for the
/// `high` of those whose bit is clear.
std::pair<llvm::Value *, llvm::Value *> swap_rows(llvm::IRBuilder<> &builder, llvm::Value *low,
                                                  llvm::Value *high, unsigned lane_bit) {
  llvm::Value *pair = builder.CreateIntrinsic(lane_bit == 4 ? llvm::Intrinsic::amdgcn_permlane16_swap
                                                            : llvm::Intrinsic::amdgcn_permlane32_swap,
                                              {low, high, builder.getFalse(), builder.getFalse()});
  return {builder.CreateExtractValue(pair, 0), builder.CreateExtractValue(pair, 1)};
}

} // namespace

std::pair<llvm::Value *, llvm::Value *> swap_with_lanes(EmitContext &context, llvm::Value *low,
                                                        llvm::Value *high, unsigned lane_bit) {
  llvm::IRBuilder<> &builder = context.builder;
  if (1u << lane_bit >= gfx950::row_lanes)
    return swap_rows(builder, low, high, lane_bit);
  if (lane_bit >= 2) { // banks of lanes whose bit is set
    const unsigned distance = 1u << lane_bit, set = lane_bit == 2 ? 0b1010 : 0b1100;
    return {dpp(builder, low, high, FromBelow + distance, set),
            dpp(builder, high, low, FromAbove + distance, ~set & 15)};
  }
  llvm::Value *is_clear = are_clear(builder, context.lane, 1u << lane_bit);
  const DppControl partner = lane_bit == 0 ? QuadXor1 : QuadXor2;
  return {builder.CreateSelect(is_clear, low, dpp(builder, high, partner)),
          builder.CreateSelect(is_clear, dpp(builder, low, partner), high)};
}

llvm::Value *shuffle_xor(EmitContext &context, llvm::Value *value, unsigned lane_bit) {
  llvm::IRBuilder<> &builder = context.builder;
  return by_dwords(builder, value, [&](llvm::Value *dword) -> llvm::Value * {
    switch (lane_bit) {
    case 0:
      return dpp(builder, dword, QuadXor1);
    case 1:
      return dpp(builder, dword, QuadXor2);
    case 2: // within 8 lanes, xor 7 and then xor 3
      return dpp(builder, dpp(builder, dword, HalfMirror), QuadXor3);
    case 3:
      return dpp(builder, dword, Rotate8);
    default: {
      const auto [low, high] = swap_rows(builder, dword, dword, lane_bit);
      return builder.CreateSelect(are_clear(builder, context.lane, 1u << lane_bit), high, low);
    }
    }
  });
}

std::pair<llvm::Value *, llvm::Value *> lane_and_partner(EmitContext &context, llvm::Value *value,
                                                         unsigned lane_bit, uint32_t equal) {
  llvm::IRBuilder<> &builder = context.builder;
  llvm::Type *type = value->getType();
  if (type->getPrimitiveSizeInBits() != 32)
    return {value, shuffle_xor(context, value, lane_bit)};
  if (lane_bit == 2 && (equal & 3) == 3)
    return {value, from_bits(builder, dpp(builder, to_bits(builder, value), HalfMirror), type)};
  if (lane_bit < 4)
    return {value, shuffle_xor(context, value, lane_bit)};
  llvm::Value *bits = to_bits(builder, value);
  const auto [low, high] = swap_rows(builder, bits, bits, lane_bit);
  return {from_bits(builder, low, type), from_bits(builder, high, type)};
}

std::pair<llvm::Value *, llvm::Value *> lane_and_rows_below(EmitContext &context, llvm::Value *value,
                                                            unsigned lane_bit) {
  llvm::IRBuilder<> &builder = context.builder;
  const DppControl control = lane_bit == 4 ? LastOfRow : LastOfHalf;
  return {value, from_bits(builder, dpp(builder, to_bits(builder, value), control), value->getType())};
}

llvm::Value *of_last_lane(llvm::IRBuilder<> &builder, llvm::Value *dword) {
  llvm::Value *last = builder.CreateIntrinsic(llvm::Intrinsic::amdgcn_readlane, {builder.getInt32Ty()},
                                              {to_bits(builder, dword), builder.getInt32(gfx950::lanes - 1)});
  return from_bits(builder, last, dword->getType());
}

} // namespace nereid::codegen
