// Codes of 6 bits through LDS: from quantize to a tile of bytes, and from a tile to a dot's operands.
#include "codegen/lower/six_bit.h"

#include <algorithm>

#include <llvm/IR/IntrinsicsAMDGPU.h>

#include "codegen/lower/branches.h"
#include "codegen/lower/thread_position.h"

namespace nereid::codegen {

static constexpr unsigned group_bytes = 24;
static constexpr unsigned group_dwords = 6;

Registers SixBitEmitter::coordinates(const LinearLayout &layout, unsigned dim) {
  llvm::Value *thread = thread_coordinate(context_, layout, dim);
  Registers result;
  for (uint32_t r = 0; r < layout.registers(); ++r)
    result.push_back(coordinate_of_register(builder_, layout, dim, thread, r));
  return result;
}

/// Of each register's byte in a row-major array of the layout's tile, whose dimension `inner` is the fastest.
Registers SixBitEmitter::array_offsets(const LinearLayout &layout, unsigned inner) {
  const ir::Shape shape = layout.shape();
  Registers offsets = coordinates(layout, inner);
  int64_t stride = shape[inner];
  for (unsigned d = layout.rank(); d-- > 0;) {
    if (d == inner)
      continue;
    Registers along = coordinates(layout, d);
    for (size_t r = 0; r < offsets.size(); ++r)
      offsets[r] = builder_.CreateAdd(offsets[r], builder_.CreateMul(along[r], builder_.getInt32(stride)));
    stride *= shape[d];
  }
  return offsets;
}

llvm::Value *SixBitEmitter::byte_address(llvm::Value *base, llvm::Value *offset) {
  return builder_.CreateGEP(builder_.getInt8Ty(), base, offset);
}

/// Registers that one access of bytes may take: as many as walk along `dim`, at most a dword.
static unsigned bytes_of_access(const LinearLayout &layout, unsigned dim) {
  return 1u << std::min(layout.contiguous_registers(dim), 2u);
}

/// The codes of a dot's side in LDS, K fastest.
llvm::Value *SixBitEmitter::codes_in_lds(ir::ValueId value, unsigned k_dim) {
  const LinearLayout layout = values_.available_layout(value);
  const Registers bytes = values_.get(value, layout);
  const Registers offsets = array_offsets(layout, k_dim);
  const unsigned run = bytes_of_access(layout, k_dim);
  llvm::Value *base = lds_.scratch(static_cast<unsigned>(context_.type(value).count()));
  order_.barrier();
  guarded(context_, owner_condition(context_, layout), {}, [&] {
    for (size_t r = 0; r < bytes.size(); r += run) {
      llvm::Value *packed = packing_.pack(Registers(bytes.begin() + r, bytes.begin() + r + run), 8)[0];
      builder_.CreateAlignedStore(builder_.CreateTrunc(packed, builder_.getIntNTy(8 * run)),
                                  byte_address(base, offsets[r]), llvm::Align(run));
    }
    return Registers();
  });
  order_.barrier();
  return base;
}

Registers SixBitEmitter::operands(const DotSide &side, const DotOperandPlan &plan, unsigned k_dim) {
  llvm::Value *base = codes_in_lds(side.value, k_dim);
  llvm::Value *pitch = builder_.getInt32(context_.type(side.value).shape[k_dim]);
  llvm::Value *inside = plan.padded_lanes ? are_clear(builder_, context_.lane, plan.padded_lanes) : nullptr;
  const Registers row = coordinates(plan.scale_layout, 0), group = coordinates(plan.scale_layout, 1);
  auto *vector = llvm::FixedVectorType::get(builder_.getInt32Ty(), group_dwords);
  Registers operands;
  for (size_t r = 0; r < row.size(); ++r) {
    llvm::Value *offset = builder_.CreateAdd(builder_.CreateMul(row[r], pitch),
                                             builder_.CreateMul(group[r], builder_.getInt32(group_bytes)));
    llvm::Value *codes = builder_.CreateAlignedLoad(vector, byte_address(base, offset), llvm::Align(8));
    operands.push_back(inside ? builder_.CreateSelect(inside, codes, llvm::Constant::getNullValue(vector))
                              : codes);
  }
  return operands;
}

/// 8 codes are 6 bytes. The conversion takes 32 at once: the others are 0, and their results are not used.
llvm::Value *SixBitEmitter::halves_of_run(llvm::Value *address, ir::Format format, llvm::Type *half) {
  constexpr unsigned first_bytes = 4;
  llvm::Type *i32 = builder_.getInt32Ty();
  llvm::Value *first = builder_.CreateAlignedLoad(i32, address, llvm::Align(2));
  llvm::Value *rest = builder_.CreateAlignedLoad(
      builder_.getInt16Ty(), byte_address(address, builder_.getInt32(first_bytes)), llvm::Align(2));
  llvm::Value *codes = llvm::Constant::getNullValue(llvm::FixedVectorType::get(i32, group_dwords));
  codes = builder_.CreateInsertElement(codes, first, uint64_t{0});
  codes = builder_.CreateInsertElement(codes, builder_.CreateZExt(rest, i32), uint64_t{1});
  const bool to_bf16 = half->isBFloatTy(), e2m3 = format == ir::Format::E2M3;
  const llvm::Intrinsic::ID id = to_bf16 ? (e2m3 ? llvm::Intrinsic::amdgcn_cvt_scalef32_pk32_bf16_fp6
                                                 : llvm::Intrinsic::amdgcn_cvt_scalef32_pk32_bf16_bf6)
                                         : (e2m3 ? llvm::Intrinsic::amdgcn_cvt_scalef32_pk32_f16_fp6
                                                 : llvm::Intrinsic::amdgcn_cvt_scalef32_pk32_f16_bf6);
  llvm::Value *values =
      builder_.CreateIntrinsic(id, {codes, llvm::ConstantFP::get(builder_.getFloatTy(), 1.0)});
  return builder_.CreateShuffleVector(values, llvm::ArrayRef<int>{0, 1, 2, 3, 4, 5, 6, 7});
}

Registers SixBitEmitter::operands_of_halves(const DotSide &side, const DotOperandPlan &plan, unsigned k_dim,
                                            llvm::Type *half) {
  constexpr unsigned run_bytes = run_of_halves * 6 / 8;
  llvm::Value *base = codes_in_lds(side.value, k_dim);
  llvm::Value *pitch = builder_.getInt32(context_.type(side.value).shape[k_dim]);
  const Registers row = coordinates(plan.layout, 0), run = coordinates(plan.layout, 1);
  Registers operands;
  for (size_t r = 0; r < row.size(); ++r) {
    llvm::Value *offset = builder_.CreateAdd(builder_.CreateMul(row[r], pitch),
                                             builder_.CreateMul(run[r], builder_.getInt32(run_bytes)));
    operands.push_back(halves_of_run(byte_address(base, offset), *side.format, half));
  }
  return operands;
}

Registers SixBitEmitter::spread_groups(const std::vector<Registers> &codes, const LinearLayout &groups,
                                       const LinearLayout &layout) {
  int64_t count = 1;
  for (int64_t size : layout.shape())
    count *= size;
  llvm::Value *base = lds_.scratch(static_cast<unsigned>(count));
  const Registers numbers = array_offsets(groups, groups.rank() - 1);
  order_.barrier();
  guarded(context_, owner_condition(context_, groups), {}, [&] {
    for (uint32_t r = 0; r < codes.size(); ++r) {
      llvm::Value *offset = builder_.CreateMul(numbers[r], builder_.getInt32(group_bytes));
      builder_.CreateAlignedStore(dwords_to_vector(builder_, codes[r]), byte_address(base, offset),
                                  llvm::Align(8));
    }
    return Registers();
  });
  order_.barrier();
  const unsigned inner = layout.rank() - 1, run = bytes_of_access(layout, inner);
  const Registers offsets = array_offsets(layout, inner);
  Registers bytes;
  for (size_t r = 0; r < offsets.size(); r += run) {
    llvm::Value *packed = builder_.CreateAlignedLoad(builder_.getIntNTy(8 * run),
                                                     byte_address(base, offsets[r]), llvm::Align(run));
    Registers some = packing_.unpack(packed, builder_.getInt8Ty(), run);
    bytes.insert(bytes.end(), some.begin(), some.end());
  }
  return bytes;
}

} // namespace nereid::codegen
