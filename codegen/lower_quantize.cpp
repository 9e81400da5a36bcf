#include <algorithm>

#include <llvm/IR/IntrinsicsAMDGPU.h>

#include "codegen/lowering.h"
#include "codegen/operand_layout.h"

namespace nereid::codegen {

/// An f32 pattern whose exponent is the e8m0 byte of a group of 32 (see dsl/interpreter/numbers.h for the
/// rules); its other bits say nothing. Magnitudes order like their bits, NaN and infinity above all.
llvm::Value *Lowering::group_scale(const ir::Op &op, const Registers &group) {
  llvm::IRBuilder<> &b = builder_;
  Registers row;
  bool narrow_bits = group[0]->getType()->isBFloatTy();
  auto *pair = llvm::FixedVectorType::get(b.getInt16Ty(), 2);
  if (narrow_bits) {
    // Pairs of bf16 are compared as packed 16-bit integers.
    for (llvm::Value *dword : pack(group, 16))
      row.push_back(b.CreateBitCast(b.CreateAnd(dword, 0x7fff7fff), pair));
  } else {
    for (llvm::Value *x : group)
      row.push_back(b.CreateAnd(to_bits(widen(x)), 0x7fffffff));
  }
  for (size_t half = row.size() / 2; half > 0; half /= 2)
    for (size_t i = 0; i < half; ++i)
      row[i] = b.CreateBinaryIntrinsic(llvm::Intrinsic::umax, row[2 * i], row[2 * i + 1]);
  llvm::Value *bits = row[0];
  if (narrow_bits) {
    // Both halves become the largest; the low one lies below bf16's precision and makes no carry.
    llvm::Value *turned = b.CreateShuffleVector(bits, llvm::ArrayRef<int>{1, 0});
    bits = b.CreateBitCast(b.CreateBinaryIntrinsic(llvm::Intrinsic::umax, bits, turned), b.getInt32Ty());
  }
  // Mantissa bits that make the exponent count up: 1.75 (rounds up to 2 with one mantissa bit); above 1.5.
  constexpr uint32_t exponent_unit = 1U << 23, infinity = 0x7f800000, largest_scale = 254 * exponent_unit;
  const std::string &rule = op.string("rule");
  const uint32_t bump = rule == "even" ? 0x200000 : rule == "ceil" ? (narrow_bits ? 0x3f0000 : 0x3fffff) : 0;
  const uint32_t to_scale = bump - 2 * exponent_unit;
  llvm::Value *scale = b.CreateAdd(bits, b.getInt32(to_scale));
  const uint32_t first_special = rule == "even" ? infinity - 2 * exponent_unit : infinity + to_scale;
  llvm::Value *special = b.CreateICmpSGE(scale, b.getInt32(first_special));
  llvm::Value *positive = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, scale, b.getInt32(0));
  return b.CreateSelect(special, b.getInt32(largest_scale), positive);
}

/// Two values a conversion, four conversions a dword; NaN and infinity become code 7 with their sign.
void Lowering::convert_group(const Registers &group, llvm::Value *scale, Registers &codes,
                             size_t first_code) {
  llvm::Value *factor = builder_.CreateBitCast(scale, builder_.getFloatTy());
  bool packed = group[0]->getType()->isBFloatTy();
  Registers pairs;
  if (packed)
    for (llvm::Value *dword : pack(group, 16))
      pairs.push_back(builder_.CreateBitCast(dword, llvm::FixedVectorType::get(builder_.getBFloatTy(), 2)));
  for (unsigned dword_number = 0; dword_number < 4; ++dword_number) {
    llvm::Value *dword = llvm::PoisonValue::get(builder_.getInt32Ty());
    for (unsigned byte = 0; byte < 4; ++byte) {
      unsigned pair = dword_number * 4 + byte;
      llvm::Value *select = builder_.getInt32(byte);
      if (packed)
        dword = builder_.CreateIntrinsic(llvm::Intrinsic::amdgcn_cvt_scalef32_pk_fp4_bf16,
                                         {dword, pairs[pair], factor, select});
      else
        dword = builder_.CreateIntrinsic(
            llvm::Intrinsic::amdgcn_cvt_scalef32_pk_fp4_f32,
            {dword, widen(group[2 * pair]), widen(group[2 * pair + 1]), factor, select});
    }
    Registers bytes = unpack(dword, builder_.getInt8Ty(), 4);
    std::copy(bytes.begin(), bytes.end(), codes.begin() + first_code + dword_number * 4);
  }
}

void Lowering::lower_quantize(const ir::Op &op) {
  if (op.string("format") != "e2m1")
    return fail(op, "quantize to " + op.string("format") + " does not compile yet",
                "formats that compile: e2m1");
  // Registers in the order of the group: the five lowest bits walk through its 32 values.
  const LinearLayout &home = layouts_.quantize_operands.at(&op);
  std::vector<unsigned> order;
  for (unsigned bit = 0; bit < 5; ++bit)
    for (unsigned reg = 0; reg < home.bits(Space::Register); ++reg)
      if (home.column(Space::Register, reg) == uint64_t(1) << bit)
        order.push_back(reg);
  for (unsigned reg = 0; reg < home.bits(Space::Register); ++reg)
    if (std::find(order.begin(), order.end(), reg) == order.end())
      order.push_back(reg);
  LinearLayout sorted = home.permute_registers(order);
  Registers x = get(op.operands[0], sorted);
  Registers codes(x.size() / 2), scales(x.size() / 32);
  for (size_t group = 0; group < scales.size(); ++group) {
    Registers values(x.begin() + group * 32, x.begin() + group * 32 + 32);
    llvm::Value *scale = group_scale(op, values);
    convert_group(values, scale, codes, group * 16);
    scales[group] = builder_.CreateTrunc(builder_.CreateLShr(scale, 23), builder_.getInt8Ty());
  }
  const std::array<Tile, 2> made = {Tile{quantize_codes_layout(sorted, type(op.results[0]).shape), codes},
                                    Tile{quantize_scales_layout(sorted, type(op.results[1]).shape), scales}};
  std::optional<std::array<Registers, 2>> shared;
  if (layouts_.shared_quantizes.count(&op) != 0)
    shared = share_quantized(op, made);
  for (size_t i = 0; i < made.size(); ++i)
    if (shared)
      define(op.results[i], layouts_.home(op.results[i]), (*shared)[i]);
    else
      define(op.results[i], made[i].layout, made[i].registers);
}

} // namespace nereid::codegen
