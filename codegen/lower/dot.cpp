#include <bit>

#include <llvm/IR/IntrinsicsAMDGPU.h>

#include "codegen/lower/lowering.h"

namespace nereid::codegen {

/// A dot whose only use is an addition in the same region becomes the start of the sum.
bool Lowering::is_folded_dot(const ir::Op &op) const {
  if (!is_dot(op))
    return false;
  ir::ValueId value = op.result();
  if (index_.uses(value) != 1)
    return false;
  const ir::Op &user = *index_.user(value);
  if (user.opcode != ir::Opcode::Add || index_.block(user) != index_.block(op) ||
      layouts_.assigned[user.result()] != layouts_.assigned[value])
    return false;
  const ir::Op *first = index_.definition(user.operands[0]);
  return first == &op || !first || !is_folded_dot(*first);
}

bool Lowering::dots_fit_vgprs() const {
  constexpr unsigned room = 208; // leaves some for addresses
  for (const auto &[op, plan] : layouts_.dots) {
    unsigned registers = plan.partial.value_or(plan.result).registers();
    for (const DotOperandPlan *side : {&plan.a, &plan.b}) {
      registers += plan.k_instructions * side->row_tiles() * side->dwords;
      registers += side->scale_layout.rank() != 0 ? side->scale_layout.registers() : 0;
    }
    if (registers > room)
      return false;
  }
  return true;
}

/// Where lanes of absent rows hold other steps along K: each operand once for every step, with zeros in the
/// lanes of the others. Their scales do not matter: zero times the other side's scale is what the step's own
/// lanes get too, zero or NaN.
Registers Lowering::for_each_step(const DotOperandPlan &plan, const Registers &operands) {
  if (plan.k_lane_bits == 0)
    return operands;
  const unsigned steps = 1u << plan.k_lane_bits;
  llvm::Value *mine = builder_.CreateAnd(builder_.CreateLShr(lane_, plan.k_lanes_from), steps - 1);
  Registers result;
  for (llvm::Value *operand : operands)
    for (unsigned step = 0; step < steps; ++step)
      result.push_back(builder_.CreateSelect(builder_.CreateICmpEQ(mine, builder_.getInt32(step)), operand,
                                             llvm::Constant::getNullValue(operand->getType())));
  return result;
}

/// Adds up what lanes of absent rows hold of a sum. Rotation is as good as exchange: lanes further up in the
/// row hold the same by then.
llvm::Value *Lowering::sum_over_steps(const DotOperandPlan &plan, llvm::Value *sum) {
  constexpr unsigned row_rotate = 0x120, all = 15;
  for (unsigned bit = plan.k_lanes_from + plan.k_lane_bits; bit-- > plan.k_lanes_from;) {
    llvm::Value *zero = llvm::Constant::getNullValue(sum->getType());
    llvm::Value *turned =
        builder_.CreateIntrinsic(llvm::Intrinsic::amdgcn_update_dpp, {sum->getType()},
                                 {zero, sum, builder_.getInt32(row_rotate + (1u << bit)),
                                  builder_.getInt32(all), builder_.getInt32(all), builder_.getTrue()});
    sum = builder_.CreateFAdd(sum, turned);
  }
  return sum;
}

/// Codes of a microscaling format as bf16 or f16, two a dword. All are exact.
Registers Lowering::widen_codes(const Registers &dwords, ir::Format format, llvm::Type *half) {
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
llvm::Value *Lowering::power_of_scale(llvm::Value *byte) {
  constexpr unsigned exponent_bit = 23, code_of_one = 2;
  llvm::Value *bits;
  if (auto piece = pieces_.find(byte); piece != pieces_.end())
    bits = piece->second.bit <= exponent_bit
               ? builder_.CreateShl(piece->second.dword, exponent_bit - piece->second.bit)
               : builder_.CreateLShr(piece->second.dword, piece->second.bit - exponent_bit);
  else
    bits = builder_.CreateShl(builder_.CreateZExt(byte, builder_.getInt32Ty()), exponent_bit);
  llvm::Value *pair =
      builder_.CreateIntrinsic(llvm::Intrinsic::amdgcn_cvt_scalef32_pk_f32_fp4,
                               {builder_.getInt32(code_of_one),
                                builder_.CreateBitCast(bits, builder_.getFloatTy()), builder_.getInt32(0)});
  return builder_.CreateExtractElement(pair, uint64_t(0));
}

/// tile * k_instructions + k for the fragment at `at` in the order of the operand's registers, whose odd
/// factors lie above all powers of two.
static size_t number_of_fragment(const DotOperandPlan &plan, unsigned k_instructions, size_t at) {
  const size_t k_within = k_instructions / plan.k_odd, tiles_within = size_t(1) << plan.row_tile_bits;
  const size_t block = at / (k_within * tiles_within), within = at % (k_within * tiles_within);
  const size_t tile = block / plan.k_odd * tiles_within + within / k_within;
  return tile * k_instructions + block % plan.k_odd * k_within + within % k_within;
}

/// Elements beyond the tile's K, in registers or in lanes, are zeros on both sides.
Lowering::Fragments Lowering::fragments(const DotSide &side, const DotOperandPlan &plan, const DotPlan &dot) {
  Fragments result{dot.k_instructions, {}, {}, {}};
  const OperandFacts &facts = *plan.facts;
  unsigned bits = ir::facts(type(side.value).element).bits;
  llvm::Type *half = dot.mfma->kind == MfmaKind::BF16  ? builder_.getBFloatTy()
                     : dot.mfma->kind == MfmaKind::F16 ? builder_.getHalfTy()
                                                       : nullptr;
  const auto by_tile = [&](const auto &by_register) {
    auto sorted = by_register;
    for (size_t at = 0; at < by_register.size(); ++at)
      sorted[number_of_fragment(plan, dot.k_instructions, at)] = by_register[at];
    return sorted;
  };
  if (facts.has_six_bits())
    result.operands = six_bit_operands(side, plan, &plan == &dot.a ? 1 : 0);
  Registers elements = facts.has_six_bits() ? Registers() : get(side.value, plan.layout);
  llvm::Value *inside = plan.padded_lanes ? test_bits(lane_, plan.padded_lanes) : nullptr;
  size_t count = size_t(1) << plan.log2_elements;
  for (size_t first = 0; first < elements.size(); first += count) {
    Registers dwords = pack(Registers(elements.begin() + first, elements.begin() + first + count), bits);
    if (inside)
      for (llvm::Value *&dword : dwords)
        dword = builder_.CreateSelect(inside, dword, builder_.getInt32(0));
    dwords.resize(plan.stored_dwords, builder_.getInt32(0));
    if (half && bits == 8)
      dwords = widen_codes(dwords, *facts.format, half);
    llvm::Value *vector = dwords_to_vector(dwords);
    if (half)
      vector = builder_.CreateBitCast(vector, llvm::FixedVectorType::get(half, plan.dwords * 2));
    result.operands.push_back(vector);
  }
  result.operands = by_tile(for_each_step(plan, result.operands));
  if (!side.scale)
    return result;
  Registers bytes;
  for (llvm::Value *byte : get(*side.scale, plan.scale_layout))
    bytes.insert(bytes.end(), size_t(1) << plan.k_lane_bits, byte);
  for (llvm::Value *byte : bytes) {
    if (dot.scales_accumulators) {
      result.sum_scales.push_back(power_of_scale(byte));
      continue;
    }
    // Two constant zeros would be taken as "unscaled"; byte 0 of 256 is the same number and a constant else.
    if (auto *constant = llvm::dyn_cast<llvm::Constant>(byte); constant && constant->isNullValue())
      result.scales.push_back({builder_.getInt32(256), 0});
    else if (auto piece = pieces_.find(byte); piece != pieces_.end())
      result.scales.push_back({piece->second.dword, piece->second.bit / 8});
    else
      result.scales.push_back({builder_.CreateZExt(byte, builder_.getInt32Ty()), 0});
  }
  result.scales = by_tile(result.scales);
  return result;
}

llvm::Value *Lowering::mfma(const DotPlan &plan, const Fragments &b, const Fragments &a, unsigned n_tile,
                            unsigned m_tile, unsigned k, llvm::Value *accumulator) {
  size_t b_at = n_tile * plan.k_instructions + k, a_at = m_tile * plan.k_instructions + k;
  llvm::Value *first = b.operands[b_at], *second = a.operands[a_at];
  std::vector<llvm::Value *> arguments = {first, second, accumulator};
  std::vector<llvm::Type *> overloads;
  llvm::Value *zero = builder_.getInt32(0);
  if (plan.mfma->kind == MfmaKind::F8F6F4) {
    // Constant zeros in place of both scales: the form without scales.
    const Fragments::Scale none{zero, 0};
    const Fragments::Scale &b_scale = b.scales.empty() ? none : b.scales[b_at];
    const Fragments::Scale &a_scale = a.scales.empty() ? none : a.scales[a_at];
    arguments.insert(arguments.end(),
                     {builder_.getInt32(plan.b.facts->format_code),
                      builder_.getInt32(plan.a.facts->format_code), builder_.getInt32(b_scale.byte),
                      b_scale.dword, builder_.getInt32(a_scale.byte), a_scale.dword});
    overloads = {first->getType(), second->getType()};
  } else {
    arguments.insert(arguments.end(), {zero, zero, zero});
  }
  llvm::Intrinsic::ID id = llvm::Intrinsic::lookupIntrinsicID(plan.mfma->intrinsic);
  return builder_.CreateIntrinsic(id, overloads, arguments);
}

/// Adds the product of one tile to `sum`. `first`: the number of its first result register.
llvm::Value *Lowering::accumulate_dot(const DotPlan &plan, const Fragments &b, const Fragments &a,
                                      unsigned n_tile, unsigned m_tile, size_t first, llvm::Value *sum) {
  if (!plan.scales_accumulators) {
    for (unsigned k = 0; k < plan.k_instructions; ++k)
      sum = mfma(plan, b, a, n_tile, m_tile, k, sum);
    return sum;
  }
  const Registers &scales = a.sum_scales.empty() ? b.sum_scales : a.sum_scales;
  const unsigned in_group = plan.group_instructions();
  for (unsigned group = 0; group * in_group < plan.k_instructions; ++group) {
    llvm::Value *part = llvm::Constant::getNullValue(sum->getType());
    for (unsigned i = 0; i < in_group; ++i)
      part = mfma(plan, b, a, n_tile, m_tile, group * in_group + i, part);
    llvm::Value *scale = llvm::PoisonValue::get(sum->getType());
    for (unsigned i = 0; i < 1u << plan.result_bits; ++i)
      scale = builder_.CreateInsertElement(scale, scales[plan.sum_scale(first + i, group)], i);
    sum = builder_.CreateIntrinsic(llvm::Intrinsic::fma, {sum->getType()}, {part, scale, sum});
  }
  return sum;
}

void Lowering::lower_dot(const ir::Op &op, ir::ValueId result, std::optional<ir::ValueId> addend) {
  const DotPlan &plan = layouts_.dots.at(&op);
  const DotSides sides = sides_of_dot(function_, op);
  llvm::Type *element = llvm_type(context_, type(op.result()).element);
  const LinearLayout &own = plan.partial ? *plan.partial : plan.result;
  const bool spread = plan.partial || plan.a.k_lane_bits != 0;
  const bool starts = addend && !spread;
  Registers accumulators =
      starts ? get(*addend, plan.result) : Registers(own.registers(), llvm::Constant::getNullValue(element));
  set_line(op);
  Fragments a = fragments(sides.a, plan.a, plan);
  Fragments b = fragments(sides.b, plan.b, plan);
  unsigned used = 1u << plan.result_bits;
  unsigned n_tiles = plan.b.row_tiles(), m_tiles = plan.a.row_tiles();
  auto *vector_type = llvm::FixedVectorType::get(element, plan.mfma->result_registers());
  for (unsigned m = 0; m < m_tiles; ++m)
    for (unsigned n = 0; n < n_tiles; ++n) {
      size_t first = size_t(plan.tile(m, n)) * used;
      llvm::Value *sum = llvm::Constant::getNullValue(vector_type);
      for (unsigned i = 0; i < used; ++i)
        sum = builder_.CreateInsertElement(sum, accumulators[first + i], i);
      sum = accumulate_dot(plan, b, a, n, m, first, sum);
      for (unsigned i = 0; i < used; ++i)
        accumulators[first + i] = builder_.CreateExtractElement(sum, i);
    }
  if (plan.a.k_lane_bits != 0)
    for (llvm::Value *&sum : accumulators)
      sum = sum_over_steps(plan.a, sum);
  if (plan.partial)
    accumulators = sum_over_waves(accumulators, *plan.partial, plan.result);
  if (addend && spread) {
    const Registers before = get(*addend, plan.result);
    for (size_t i = 0; i < accumulators.size(); ++i)
      accumulators[i] = builder_.CreateFAdd(before[i], accumulators[i]);
  }
  define(result, plan.result, accumulators);
}

} // namespace nereid::codegen
