#include <algorithm>

#include <llvm/IR/IntrinsicsAMDGPU.h>

#include "codegen/lowering.h"
#include "codegen/operand_layout.h"

namespace nereid::codegen {

/// The e8m0 byte of a group of 32 as an i32 (see dsl/interpreter/numbers.h for the rules). Magnitudes order
/// like their bits, NaN and infinity above all.
llvm::Value *Lowering::group_scale(const ir::Op &op, const Registers &group) {
  llvm::IRBuilder<> &b = builder_;
  Registers row;
  bool narrow_bits = group[0]->getType()->isBFloatTy();
  if (narrow_bits) {
    // Pairs of bf16 are compared as packed 16-bit integers.
    auto *pair = llvm::FixedVectorType::get(b.getInt16Ty(), 2);
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
    // The low half of the result is the smaller number or garbage below bf16's precision; it is cleared.
    llvm::Value *both = b.CreateBitCast(row[0], b.getInt32Ty());
    bits = b.CreateBinaryIntrinsic(llvm::Intrinsic::umax, both, b.CreateShl(both, 16));
    bits = b.CreateAnd(bits, 0xffff0000);
  }
  // Mantissa bits that make the exponent count up: 1.75 (rounds up to 2 with one mantissa bit); above 1.5.
  const std::string &rule = op.string("rule");
  uint32_t bump = rule == "even" ? 0x200000 : rule == "ceil" ? 0x3fffff : 0;
  llvm::Value *exponent = b.CreateLShr(b.CreateAdd(bits, b.getInt32(bump)), 23);
  llvm::Value *byte =
      b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, b.CreateSub(exponent, b.getInt32(2)), b.getInt32(0));
  llvm::Value *special = rule == "even" ? b.CreateICmpUGE(exponent, b.getInt32(255))
                                        : b.CreateICmpUGE(bits, b.getInt32(0x7f800000));
  return b.CreateSelect(special, b.getInt32(254), byte);
}

/// Two values a conversion, four conversions a dword; NaN and infinity become code 7 with their sign.
void Lowering::convert_group(const Registers &group, llvm::Value *scale, Registers &codes,
                             size_t first_code) {
  llvm::Value *factor = builder_.CreateBitCast(builder_.CreateShl(scale, 23), builder_.getFloatTy());
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
    scales[group] = builder_.CreateTrunc(scale, builder_.getInt8Ty());
  }
  define(op.results[0], quantize_codes_layout(sorted, type(op.results[0]).shape), codes);
  define(op.results[1], quantize_scales_layout(sorted, type(op.results[1]).shape), scales);
}

} // namespace nereid::codegen
