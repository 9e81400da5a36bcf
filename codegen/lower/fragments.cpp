// The operands of matrix instructions: elements in dwords, zeros beyond K, bytes of scales.
#include "codegen/lower/fragments.h"

#include <llvm/IR/IntrinsicsAMDGPU.h>

#include "codegen/lower/thread_position.h"

namespace nereid::codegen {

namespace {

/// tile * k_instructions + k for the fragment at `at` in the order of the operand's registers, whose odd
/// factors lie above all powers of two.
size_t number_of_fragment(const DotOperandPlan &plan, unsigned k_instructions, size_t at) {
  const size_t k_within = k_instructions / plan.k_odd, tiles_within = size_t(1) << plan.row_tile_bits;
  const size_t block = at / (k_within * tiles_within), within = at % (k_within * tiles_within);
  const size_t tile = block / plan.k_odd * tiles_within + within / k_within;
  return tile * k_instructions + block % plan.k_odd * k_within + within % k_within;
}

template <class Fragment>
std::vector<Fragment> by_tile(const DotOperandPlan &plan, unsigned k_instructions,
                              const std::vector<Fragment> &by_register) {
  std::vector<Fragment> sorted = by_register;
  for (size_t at = 0; at < by_register.size(); ++at)
    sorted[number_of_fragment(plan, k_instructions, at)] = by_register[at];
  return sorted;
}

/// The element of an instruction of halves; null for other kinds.
llvm::Type *half_type(llvm::IRBuilder<> &builder, MfmaKind kind) {
  return kind == MfmaKind::BF16  ? builder.getBFloatTy()
         : kind == MfmaKind::F16 ? builder.getHalfTy()
                                 : nullptr;
}

} // namespace

/// Where lanes whose rows A lacks hold other steps along K: each operand once for every step, with zeros in
/// the lanes of the others. Their scales do not matter: zero times the other side's scale is what the step's
/// own lanes get too, zero or NaN.
Registers FragmentEmitter::for_each_step(const DotOperandPlan &plan, const Registers &operands) {
  if (plan.k_lane_bits == 0)
    return operands;
  const unsigned steps = 1u << plan.k_lane_bits;
  llvm::Value *own = builder_.CreateAnd(builder_.CreateLShr(context_.lane, plan.k_lanes_from), steps - 1);
  Registers result;
  for (llvm::Value *operand : operands)
    for (unsigned step = 0; step < steps; ++step)
      result.push_back(builder_.CreateSelect(builder_.CreateICmpEQ(own, builder_.getInt32(step)), operand,
                                             llvm::Constant::getNullValue(operand->getType())));
  return result;
}

/// Codes of a microscaling format as bf16 or f16, two a dword. All are exact.
Registers FragmentEmitter::widen_codes(const Registers &dwords, ir::Format format, llvm::Type *half) {
  const bool to_bf16 = half->isBFloatTy();
  const bool e4m3 = format == ir::Format::E4M3;
  llvm::Value *one = llvm::ConstantFP::get(builder_.getFloatTy(), 1.0);
  Registers pairs;
  for (llvm::Value *dword : dwords) {
    if (format == ir::Format::E2M1) {
      for (unsigned byte = 0; byte < 4; ++byte)
        pairs.push_back(builder_.CreateIntrinsic(to_bf16 ? llvm::Intrinsic::amdgcn_cvt_scalef32_pk_bf16_fp4
                                                         : llvm::Intrinsic::amdgcn_cvt_scalef32_pk_f16_fp4,
                                                 {dword, one, builder_.getInt32(byte)}));
      continue;
    }
    const llvm::Intrinsic::ID id = to_bf16 ? (e4m3 ? llvm::Intrinsic::amdgcn_cvt_scalef32_pk_bf16_fp8
                                                   : llvm::Intrinsic::amdgcn_cvt_scalef32_pk_bf16_bf8)
                                           : (e4m3 ? llvm::Intrinsic::amdgcn_cvt_scalef32_pk_f16_fp8
                                                   : llvm::Intrinsic::amdgcn_cvt_scalef32_pk_f16_bf8);
    for (bool high : {false, true})
      pairs.push_back(builder_.CreateIntrinsic(id, {dword, one, builder_.getInt1(high)}));
  }
  Registers result;
  for (llvm::Value *pair : pairs)
    result.push_back(builder_.CreateBitCast(pair, builder_.getInt32Ty()));
  return result;
}

/// 2^(byte - 127) as an f32, NaN for 255: the value 1 of e2m1 under that scale. The conversion looks at the
/// exponent bits of its scale operand only.
llvm::Value *FragmentEmitter::power_of_scale(llvm::Value *byte) {
  constexpr unsigned exponent_bit = 23, code_of_one = 2;
  llvm::Value *bits;
  if (const std::optional<Packing::Piece> piece = Packing::piece(byte))
    bits = piece->bit <= exponent_bit ? builder_.CreateShl(piece->dword, exponent_bit - piece->bit)
                                      : builder_.CreateLShr(piece->dword, piece->bit - exponent_bit);
  else
    bits = builder_.CreateShl(builder_.CreateZExt(byte, builder_.getInt32Ty()), exponent_bit);
  llvm::Value *pair =
      builder_.CreateIntrinsic(llvm::Intrinsic::amdgcn_cvt_scalef32_pk_f32_fp4,
                               {builder_.getInt32(code_of_one),
                                builder_.CreateBitCast(bits, builder_.getFloatTy()), builder_.getInt32(0)});
  return builder_.CreateExtractElement(pair, uint64_t(0));
}

Fragments::Scale FragmentEmitter::scale_operand(llvm::Value *byte) {
  // Two constant zeros would be taken as "unscaled"; byte 0 of 256 is the same number and a constant else.
  if (auto *constant = llvm::dyn_cast<llvm::Constant>(byte); constant && constant->isNullValue())
    return {builder_.getInt32(256), 0};
  if (const std::optional<Packing::Piece> piece = Packing::piece(byte))
    return {piece->dword, piece->bit / 8};
  return {builder_.CreateZExt(byte, builder_.getInt32Ty()), 0};
}

/// Elements beyond the tile's K, in registers or in lanes, are zeros on both sides.
Registers FragmentEmitter::packed_operands(const DotSide &side, const DotOperandPlan &plan,
                                           llvm::Type *half) {
  const OperandFacts &facts = *plan.facts;
  const unsigned bits = ir::facts(context_.type(side.value).element).bits;
  const size_t count = size_t(1) << plan.log2_elements;
  const Registers elements = values_.get(side.value, plan.layout);
  llvm::Value *inside = plan.padded_lanes ? are_clear(builder_, context_.lane, plan.padded_lanes) : nullptr;
  Registers operands;
  for (size_t first = 0; first < elements.size(); first += count) {
    Registers dwords =
        packing_.pack(Registers(elements.begin() + first, elements.begin() + first + count), bits);
    if (inside)
      for (llvm::Value *&dword : dwords)
        dword = builder_.CreateSelect(inside, dword, builder_.getInt32(0));
    dwords.resize(plan.stored_dwords, builder_.getInt32(0));
    if (half && bits == 8)
      dwords = widen_codes(dwords, *facts.format, half);
    llvm::Value *vector = dwords_to_vector(builder_, dwords);
    if (half)
      vector = builder_.CreateBitCast(vector, llvm::FixedVectorType::get(half, plan.dwords * 2));
    operands.push_back(vector);
  }
  return operands;
}

Fragments FragmentEmitter::fragments(const DotSide &side, const DotOperandPlan &plan, const DotPlan &dot) {
  Fragments result{dot.k_instructions, {}, {}, {}};
  llvm::Type *half = half_type(builder_, dot.mfma->kind);
  const unsigned k_dim = &plan == &dot.a ? 1 : 0;
  const Registers operands = !plan.facts->has_six_bits() ? packed_operands(side, plan, half)
                             : half ? six_bit_.operands_of_halves(side, plan, k_dim, half)
                                    : six_bit_.operands(side, plan, k_dim);
  result.operands = by_tile(plan, dot.k_instructions, for_each_step(plan, operands));
  if (!side.scale)
    return result;
  Registers bytes;
  for (llvm::Value *byte : values_.get(*side.scale, plan.scale_layout))
    bytes.insert(bytes.end(), size_t(1) << plan.k_lane_bits, byte);
  for (llvm::Value *byte : bytes)
    if (dot.scales_accumulators)
      result.sum_scales.push_back(power_of_scale(byte));
    else
      result.scales.push_back(scale_operand(byte));
  result.scales = by_tile(plan, dot.k_instructions, result.scales);
  return result;
}

} // namespace nereid::codegen
