#include <algorithm>
#include <bit>

#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/IntrinsicsAMDGPU.h>

#include "codegen/assign/quantize_layout.h"
#include "codegen/lower/lowering.h"

namespace nereid::codegen {

namespace {

/// What the scale rules and the conversions of a format need.
struct QuantizeFacts {
  ir::Format format;
  unsigned largest_exponent;
  float largest;
};

constexpr QuantizeFacts quantize_facts[] = {
    {ir::Format::E2M1, 2, 6.0F},   {ir::Format::E2M3, 2, 7.5F},      {ir::Format::E3M2, 4, 28.0F},
    {ir::Format::E4M3, 8, 448.0F}, {ir::Format::E5M2, 15, 57344.0F},
};

const QuantizeFacts &facts_for_quantize(const ir::Op &op) {
  const ir::Format format = *ir::format_named(op.string("format"));
  return *std::find_if(std::begin(quantize_facts), std::end(quantize_facts),
                       [&](const QuantizeFacts &facts) { return facts.format == format; });
}

/// Bits of a magnitude plus this count its exponent up as the rule wants: where its mantissa rounds up to 2,
/// or where it exceeds that of the format's largest value.
uint32_t exponent_bump(const ir::Op &op, const QuantizeFacts &facts) {
  constexpr uint32_t mantissa = 0x7fffff;
  const std::string &rule = op.string("rule");
  if (rule == "even")
    return 1u << (22 - ir::facts(facts.format).mantissa_bits);
  return rule == "ceil" ? mantissa - (std::bit_cast<uint32_t>(facts.largest) & mantissa) : 0;
}

} // namespace

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
  constexpr uint32_t exponent_unit = 1U << 23, infinity = 0x7f800000, largest_scale = 254 * exponent_unit;
  const QuantizeFacts &facts = facts_for_quantize(op);
  const bool even = op.string("rule") == "even";
  // The lower half of a bf16's pattern says nothing: it must not count the exponent up.
  const uint32_t bump = exponent_bump(op, facts) & (narrow_bits ? 0x7f0000 : 0x7fffff);
  const uint32_t to_scale = bump - facts.largest_exponent * exponent_unit;
  llvm::Value *scale = b.CreateAdd(bits, b.getInt32(to_scale));
  const uint32_t first_special =
      even ? infinity - facts.largest_exponent * exponent_unit : infinity + to_scale;
  llvm::Value *special = b.CreateICmpSGE(scale, b.getInt32(first_special));
  llvm::Value *positive = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, scale, b.getInt32(0));
  return b.CreateSelect(special, b.getInt32(largest_scale), positive);
}

/// The same value, of which nothing is known. LLVM 22 folds constants into packed conversions and drops their
/// byte select then; what was loaded is no constant.
llvm::Value *Lowering::opaque_unless_loaded(llvm::Value *dword, llvm::Value *first_element) {
  if (auto piece = pieces_.find(first_element); piece != pieces_.end() && piece->second.dword == dword)
    return dword;
  auto *signature = llvm::FunctionType::get(dword->getType(), {dword->getType()}, false);
  return builder_.CreateCall(signature, llvm::InlineAsm::get(signature, "", "=v,0", false), {dword});
}

/// Two values a conversion, four conversions a dword; NaN and infinity become code 7 with their sign.
Registers Lowering::convert_to_e2m1(const Registers &group, llvm::Value *scale) {
  llvm::Value *factor = builder_.CreateBitCast(scale, builder_.getFloatTy());
  bool packed = group[0]->getType()->isBFloatTy();
  Registers pairs;
  if (packed)
    for (llvm::Value *dword : pack(group, 16))
      pairs.push_back(builder_.CreateBitCast(opaque_unless_loaded(dword, group[2 * pairs.size()]),
                                             llvm::FixedVectorType::get(builder_.getBFloatTy(), 2)));
  Registers dwords;
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
    dwords.push_back(dword);
  }
  return dwords;
}

/// Two values a conversion, two conversions a dword. The conversions make NaN or infinity of what is too
/// large; finite values are cut to the largest before. The limit of a group with NaN or infinity is infinite.
Registers Lowering::convert_to_byte_codes(const ir::Op &op, const Registers &group, llvm::Value *scale) {
  const QuantizeFacts &facts = facts_for_quantize(op);
  llvm::IRBuilder<> &b = builder_;
  llvm::Value *factor = b.CreateBitCast(scale, b.getFloatTy());
  llvm::Value *limit = b.CreateIntrinsic(llvm::Intrinsic::ldexp, {b.getFloatTy(), b.getInt32Ty()},
                                         {llvm::ConstantFP::get(b.getFloatTy(), facts.largest),
                                          b.CreateSub(b.CreateLShr(scale, 23), b.getInt32(127))});
  const bool may_exceed = op.string("rule") != "ceil";
  const auto limited = [&](llvm::Value *value) {
    llvm::Value *wide = widen(value);
    if (!may_exceed)
      return wide;
    llvm::Value *magnitude = b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, wide);
    llvm::Value *cut = b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, limit, wide);
    return b.CreateSelect(b.CreateFCmpOGT(magnitude, limit), cut, wide);
  };
  const llvm::Intrinsic::ID id = facts.format == ir::Format::E4M3
                                     ? llvm::Intrinsic::amdgcn_cvt_scalef32_pk_fp8_f32
                                     : llvm::Intrinsic::amdgcn_cvt_scalef32_pk_bf8_f32;
  auto *halves = llvm::FixedVectorType::get(b.getInt16Ty(), 2);
  Registers dwords;
  for (size_t i = 0; i < group.size(); i += 4) {
    llvm::Value *dword = llvm::PoisonValue::get(halves);
    for (unsigned half = 0; half < 2; ++half)
      dword = b.CreateIntrinsic(id, {dword, limited(group[i + 2 * half]), limited(group[i + 2 * half + 1]),
                                     factor, b.getInt1(half == 1)});
    dwords.push_back(b.CreateBitCast(dword, b.getInt32Ty()));
  }
  return dwords;
}

/// All 32 values at once: those of even and of odd numbers. Too large ones become the largest; so do NaN and
/// infinity, with their sign.
Registers Lowering::convert_to_six_bits(const ir::Op &op, const Registers &group, llvm::Value *scale) {
  llvm::Value *factor = builder_.CreateBitCast(scale, builder_.getFloatTy());
  auto *half = llvm::FixedVectorType::get(builder_.getFloatTy(), ir::scale_group / 2);
  llvm::Value *sides[2] = {llvm::PoisonValue::get(half), llvm::PoisonValue::get(half)};
  for (size_t i = 0; i < group.size(); ++i)
    sides[i % 2] = builder_.CreateInsertElement(sides[i % 2], widen(group[i]), i / 2);
  llvm::Value *codes = builder_.CreateIntrinsic(op.string("format") == "e2m3"
                                                    ? llvm::Intrinsic::amdgcn_cvt_scalef32_2xpk16_fp6_f32
                                                    : llvm::Intrinsic::amdgcn_cvt_scalef32_2xpk16_bf6_f32,
                                                {sides[0], sides[1], factor});
  Registers dwords;
  for (unsigned i = 0; i < 6; ++i)
    dwords.push_back(builder_.CreateExtractElement(codes, i));
  return dwords;
}

void Lowering::lower_quantize(const ir::Op &op) {
  const unsigned bits = ir::facts(facts_for_quantize(op).format).bits;
  // Registers in the order of the group: the five lowest bits walk through its 32 values.
  const LinearLayout &home = layouts_.quantize_operands.at(&op);
  std::vector<unsigned> order;
  for (unsigned bit = 0; bit < 5; ++bit)
    for (unsigned reg = 0; reg < home.bits(Space::Register); ++reg)
      if (home.flat_basis(Space::Register, reg) == uint64_t(1) << bit)
        order.push_back(reg);
  for (unsigned reg = 0; reg < home.bits(Space::Register); ++reg)
    if (std::find(order.begin(), order.end(), reg) == order.end())
      order.push_back(reg);
  LinearLayout sorted = home.permute_registers(order);
  Registers x = get(op.operands[0], sorted);
  std::vector<Registers> groups;
  Registers scales;
  for (size_t first = 0; first < x.size(); first += ir::scale_group) {
    Registers values(x.begin() + first, x.begin() + first + ir::scale_group);
    llvm::Value *scale = group_scale(op, values);
    groups.push_back(bits == 4   ? convert_to_e2m1(values, scale)
                     : bits == 6 ? convert_to_six_bits(op, values, scale)
                                 : convert_to_byte_codes(op, values, scale));
    scales.push_back(builder_.CreateTrunc(builder_.CreateLShr(scale, 23), builder_.getInt8Ty()));
  }
  const LinearLayout scales_layout = quantize_scales_layout(sorted);
  if (bits == 6) {
    const LinearLayout &layout = layouts_.layout(op.results[0]);
    define(op.results[1], scales_layout, scales);
    return define(op.results[0], layout, spread_groups(groups, scales_layout, layout));
  }
  Registers codes;
  for (const Registers &dwords : groups)
    for (llvm::Value *dword : dwords) {
      Registers bytes = unpack(dword, builder_.getInt8Ty(), 4);
      codes.insert(codes.end(), bytes.begin(), bytes.end());
    }
  const std::array<Tile, 2> made = {Tile{quantize_codes_layout(sorted, type(op.results[0]).shape), codes},
                                    Tile{scales_layout, scales}};
  std::optional<std::array<Registers, 2>> shared;
  if (layouts_.shared_quantizes.count(&op) != 0)
    shared = share_quantized(op, made);
  for (size_t i = 0; i < made.size(); ++i)
    if (shared)
      define(op.results[i], layouts_.layout(op.results[i]), (*shared)[i]);
    else
      define(op.results[i], made[i].layout, made[i].registers);
}

} // namespace nereid::codegen
