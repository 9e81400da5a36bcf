// A group of 32 values to a scale and codes: the largest magnitude, a scale by integer arithmetic, the
// hardware's conversions.
#include "codegen/lower/group_quantizer.h"

#include <algorithm>
#include <bit>

#include <llvm/IR/IntrinsicsAMDGPU.h>

#include "codegen/lower/casts.h"
#include "codegen/lower/lane_moves.h"
#include "codegen/lower/opaque_value.h"
#include "codegen/target/gfx950.h"
#include "dsl/ir/format.h"

namespace nereid::codegen {

/// What the scale rules and the conversions of a format need.
struct QuantizeFacts {
  ir::Format format;
  unsigned largest_exponent;
  float largest;
};

namespace {

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

bool is_bf16(const Registers &group) { return group[0]->getType()->isBFloatTy(); }

} // namespace

GroupQuantizer::GroupQuantizer(EmitContext &context, Packing &packing, const ir::Op &op, uint32_t lanes)
    : context_(context), builder_(context.builder), packing_(packing), op_(op),
      facts_(facts_for_quantize(op)), lanes_(lanes) {}

/// As bits of an f32, which order like magnitudes, NaN and infinity above all. Pairs of bf16 are compared as
/// packed 16-bit integers.
llvm::Value *GroupQuantizer::largest_magnitude(const Registers &group) {
  if (!is_bf16(group))
    return largest_of_floats(group);
  Registers row;
  auto *pair = llvm::FixedVectorType::get(builder_.getInt16Ty(), 2);
  for (llvm::Value *dword : packing_.pack(group, 16))
    row.push_back(builder_.CreateBitCast(builder_.CreateAnd(dword, 0x7fff7fff), pair));
  for (size_t half = row.size() / 2; half > 0; half /= 2)
    for (size_t i = 0; i < half; ++i)
      row[i] = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umax, row[2 * i], row[2 * i + 1]);
  // Both halves become the largest; the low one lies below bf16's precision and makes no carry.
  llvm::Value *turned = builder_.CreateShuffleVector(row[0], llvm::ArrayRef<int>{1, 0});
  llvm::Value *both = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umax, row[0], turned);
  return builder_.CreateBitCast(both, builder_.getInt32Ty());
}

/// By threes: v_maximum3_f32 takes magnitudes and gives NaN where one is. A NaN's sign is not promised.
llvm::Value *GroupQuantizer::largest_of_floats(const Registers &group) {
  Registers row;
  for (llvm::Value *x : group)
    row.push_back(builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, widen(builder_, x)));
  while (row.size() > 1) {
    Registers larger;
    for (size_t i = 0; i < row.size(); ++i)
      if (i % 3 == 0)
        larger.push_back(row[i]);
      else
        larger.back() = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::maximum, larger.back(), row[i]);
    row = std::move(larger);
  }
  return builder_.CreateAnd(to_bits(builder_, row[0]), 0x7fffffff);
}

llvm::Value *GroupQuantizer::largest_of_lanes(llvm::Value *magnitude) {
  for (unsigned bit = 0; bit < gfx950::log2_lanes; ++bit)
    if (lanes_ >> bit & 1) {
      const auto [one, other] = lane_and_partner(context_, magnitude, bit, lanes_ & ((1u << bit) - 1));
      magnitude = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umax, one, other);
    }
  return magnitude;
}

llvm::Value *GroupQuantizer::scale(const Registers &group) {
  constexpr uint32_t exponent_unit = 1U << 23, infinity = 0x7f800000, largest_scale = 254 * exponent_unit;
  llvm::Value *bits = largest_of_lanes(largest_magnitude(group));
  // The lower half of a bf16's pattern says nothing: it must not count the exponent up.
  const uint32_t bump = exponent_bump(op_, facts_) & (is_bf16(group) ? 0x7f0000 : 0x7fffff);
  const uint32_t to_scale = bump - facts_.largest_exponent * exponent_unit;
  const uint32_t first_special =
      op_.string("rule") == "even" ? infinity - facts_.largest_exponent * exponent_unit : infinity + to_scale;
  llvm::Value *scale = builder_.CreateAdd(bits, builder_.getInt32(to_scale));
  llvm::Value *special = builder_.CreateICmpSGE(scale, builder_.getInt32(first_special));
  llvm::Value *positive = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, scale, builder_.getInt32(0));
  return builder_.CreateSelect(special, builder_.getInt32(largest_scale), positive);
}

Registers GroupQuantizer::codes(const Registers &group, llvm::Value *scale) {
  llvm::Value *factor = builder_.CreateBitCast(scale, builder_.getFloatTy());
  switch (ir::facts(facts_.format).bits) {
  case 4:
    return to_e2m1(group, factor);
  case 6:
    return to_six_bits(group, factor);
  default:
    return to_byte_codes(group, scale, factor);
  }
}

/// The same value, of which nothing is known. LLVM 22 folds constants into packed conversions and drops their
/// byte select then; what was loaded is no constant.
llvm::Value *GroupQuantizer::opaque_unless_loaded(llvm::Value *dword, llvm::Value *first_element) {
  if (const auto piece = Packing::piece(first_element); piece && piece->dword == dword)
    return dword;
  return opaque_value(builder_, dword);
}

/// Two values a conversion, four conversions a dword; NaN and infinity become code 7 with their sign.
Registers GroupQuantizer::to_e2m1(const Registers &group, llvm::Value *factor) {
  Registers pairs;
  if (is_bf16(group))
    for (llvm::Value *dword : packing_.pack(group, 16))
      pairs.push_back(builder_.CreateBitCast(opaque_unless_loaded(dword, group[2 * pairs.size()]),
                                             llvm::FixedVectorType::get(builder_.getBFloatTy(), 2)));
  Registers dwords;
  for (unsigned number = 0; number < group.size() / 8; ++number) {
    llvm::Value *dword = llvm::PoisonValue::get(builder_.getInt32Ty());
    for (unsigned byte = 0; byte < 4; ++byte) {
      const unsigned pair = number * 4 + byte;
      llvm::Value *select = builder_.getInt32(byte);
      if (!pairs.empty())
        dword = builder_.CreateIntrinsic(llvm::Intrinsic::amdgcn_cvt_scalef32_pk_fp4_bf16,
                                         {dword, pairs[pair], factor, select});
      else
        dword = builder_.CreateIntrinsic(
            llvm::Intrinsic::amdgcn_cvt_scalef32_pk_fp4_f32,
            {dword, widen(builder_, group[2 * pair]), widen(builder_, group[2 * pair + 1]), factor, select});
    }
    dwords.push_back(dword);
  }
  return dwords;
}

/// A value that is not larger than `limit`.
llvm::Value *GroupQuantizer::limited(llvm::Value *value, llvm::Value *limit) {
  llvm::Value *wide = widen(builder_, value);
  if (op_.string("rule") == "ceil") // the scale is such that none is
    return wide;
  llvm::Value *magnitude = builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, wide);
  llvm::Value *cut = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, limit, wide);
  return builder_.CreateSelect(builder_.CreateFCmpOGT(magnitude, limit), cut, wide);
}

/// Two values a conversion, two conversions a dword. The conversions make NaN or infinity of what is too
/// large; finite values are cut to the largest before. The limit of a group with NaN or infinity is infinite.
Registers GroupQuantizer::to_byte_codes(const Registers &group, llvm::Value *scale, llvm::Value *factor) {
  llvm::Value *exponent = builder_.CreateSub(builder_.CreateLShr(scale, 23), builder_.getInt32(127));
  llvm::Value *limit =
      builder_.CreateIntrinsic(llvm::Intrinsic::ldexp, {builder_.getFloatTy(), builder_.getInt32Ty()},
                               {llvm::ConstantFP::get(builder_.getFloatTy(), facts_.largest), exponent});
  const llvm::Intrinsic::ID id = facts_.format == ir::Format::E4M3
                                     ? llvm::Intrinsic::amdgcn_cvt_scalef32_pk_fp8_f32
                                     : llvm::Intrinsic::amdgcn_cvt_scalef32_pk_bf8_f32;
  auto *halves = llvm::FixedVectorType::get(builder_.getInt16Ty(), 2);
  Registers dwords;
  for (size_t i = 0; i < group.size(); i += 4) {
    llvm::Value *dword = llvm::PoisonValue::get(halves);
    for (unsigned half = 0; half < 2; ++half) {
      llvm::Value *even = limited(group[i + 2 * half], limit);
      llvm::Value *odd = limited(group[i + 2 * half + 1], limit);
      dword = builder_.CreateIntrinsic(id, {dword, even, odd, factor, builder_.getInt1(half == 1)});
    }
    dwords.push_back(builder_.CreateBitCast(dword, builder_.getInt32Ty()));
  }
  return dwords;
}

/// All 32 values at once: those of even and of odd numbers. Too large ones become the largest; so do NaN and
/// infinity, with their sign.
Registers GroupQuantizer::to_six_bits(const Registers &group, llvm::Value *factor) {
  auto *half = llvm::FixedVectorType::get(builder_.getFloatTy(), ir::scale_group / 2);
  llvm::Value *sides[2] = {llvm::PoisonValue::get(half), llvm::PoisonValue::get(half)};
  for (size_t i = 0; i < group.size(); ++i)
    sides[i % 2] = builder_.CreateInsertElement(sides[i % 2], widen(builder_, group[i]), i / 2);
  llvm::Value *codes = builder_.CreateIntrinsic(facts_.format == ir::Format::E2M3
                                                    ? llvm::Intrinsic::amdgcn_cvt_scalef32_2xpk16_fp6_f32
                                                    : llvm::Intrinsic::amdgcn_cvt_scalef32_2xpk16_bf6_f32,
                                                {sides[0], sides[1], factor});
  Registers dwords;
  for (unsigned i = 0; i < 6; ++i)
    dwords.push_back(builder_.CreateExtractElement(codes, i));
  return dwords;
}

} // namespace nereid::codegen
