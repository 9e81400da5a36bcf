#include <bit>

#include <llvm/IR/IntrinsicsAMDGPU.h>

#include "codegen/lowering.h"

namespace nereid::codegen {

/// A dot whose only use is an addition in the same region becomes the start of the sum.
bool Lowering::is_folded_dot(const ir::Op &op) const {
  if (op.opcode != ir::Opcode::Dot && op.opcode != ir::Opcode::DotScaled)
    return false;
  ir::ValueId value = op.result();
  if (index_.uses(value) != 1)
    return false;
  const ir::Op &user = *index_.user(value);
  if (user.opcode != ir::Opcode::Add || index_.block(user) != index_.block(op) ||
      layouts_.homes[user.result()] != layouts_.homes[value])
    return false;
  const ir::Op *first = index_.definition(user.operands[0]);
  return first == &op || !first || !is_folded_dot(*first);
}

bool Lowering::dots_fit_vgprs() const {
  constexpr unsigned room = 208; // leaves some for addresses
  for (const auto &[op, plan] : layouts_.dots) {
    bool scaled = op->opcode == ir::Opcode::DotScaled;
    unsigned bits = ir::facts(type(op->operands[0]).element).bits;
    unsigned operands = (plan.a.layout.registers() + plan.b.layout.registers()) * bits / 32;
    unsigned scales = scaled ? plan.a.scale_layout.registers() + plan.b.scale_layout.registers() : 0;
    if (plan.partial.value_or(plan.result).registers() + operands + scales > room)
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

/// Elements beyond the tile's K, in registers or in lanes, are zeros on both sides.
Lowering::Fragments Lowering::fragments(const ir::Op &op, ir::ValueId value, std::optional<ir::ValueId> scale,
                                        const DotOperandPlan &plan, const DotPlan &dot) {
  Fragments result{dot.k_instructions, {}, {}};
  unsigned bits = ir::facts(type(value).element).bits;
  Registers elements = get(value, plan.layout);
  llvm::Value *inside = plan.padded_lanes ? test_bits(lane_, plan.padded_lanes) : nullptr;
  size_t count = size_t(1) << plan.element_bits;
  for (size_t first = 0; first < elements.size(); first += count) {
    Registers dwords = pack(Registers(elements.begin() + first, elements.begin() + first + count), bits);
    if (inside)
      for (llvm::Value *&dword : dwords)
        dword = builder_.CreateSelect(inside, dword, builder_.getInt32(0));
    dwords.resize(dot.mfma->operand_dwords, builder_.getInt32(0));
    llvm::Value *vector = dwords_to_vector(dwords);
    if (op.opcode == ir::Opcode::Dot)
      vector =
          builder_.CreateBitCast(vector, llvm::FixedVectorType::get(llvm_type(context_, type(value).element),
                                                                    dot.mfma->operand_dwords * 2));
    result.operands.push_back(vector);
  }
  result.operands = for_each_step(plan, result.operands);
  if (!scale)
    return result;
  Registers bytes;
  for (llvm::Value *byte : get(*scale, plan.scale_layout))
    bytes.insert(bytes.end(), size_t(1) << plan.k_lane_bits, byte);
  for (llvm::Value *byte : bytes) {
    // Two constant zeros would be taken as "unscaled"; byte 0 of 256 is the same number and a constant else.
    if (auto *constant = llvm::dyn_cast<llvm::Constant>(byte); constant && constant->isNullValue())
      result.scales.push_back({builder_.getInt32(256), 0});
    else if (auto piece = pieces_.find(byte); piece != pieces_.end())
      result.scales.push_back({piece->second.dword, piece->second.bit / 8});
    else
      result.scales.push_back({builder_.CreateZExt(byte, builder_.getInt32Ty()), 0});
  }
  return result;
}

llvm::Value *Lowering::mfma(const DotPlan &plan, const Fragments &b, const Fragments &a, unsigned n_tile,
                            unsigned m_tile, unsigned k, llvm::Value *accumulator) {
  size_t b_at = n_tile * plan.k_instructions + k, a_at = m_tile * plan.k_instructions + k;
  llvm::Value *first = b.operands[b_at], *second = a.operands[a_at];
  std::vector<llvm::Value *> arguments = {first, second, accumulator};
  llvm::Value *zero = builder_.getInt32(0);
  bool scaled = !b.scales.empty();
  if (scaled) {
    llvm::Value *code = builder_.getInt32(plan.mfma->format_code);
    const Fragments::Scale &b_scale = b.scales[b_at], &a_scale = a.scales[a_at];
    arguments.insert(arguments.end(), {code, code, builder_.getInt32(b_scale.byte), b_scale.dword,
                                       builder_.getInt32(a_scale.byte), a_scale.dword});
  } else {
    arguments.insert(arguments.end(), {zero, zero, zero});
  }
  llvm::Intrinsic::ID id = llvm::Intrinsic::lookupIntrinsicID(plan.mfma->intrinsic);
  std::vector<llvm::Type *> overloads;
  if (scaled)
    overloads = {first->getType(), second->getType()};
  return builder_.CreateIntrinsic(id, overloads, arguments);
}

void Lowering::lower_dot(const ir::Op &op, ir::ValueId result, std::optional<ir::ValueId> addend) {
  const DotPlan &plan = layouts_.dots.at(&op);
  bool scaled = op.opcode == ir::Opcode::DotScaled;
  std::optional<ir::ValueId> a_scale, b_scale;
  if (scaled) {
    a_scale = op.operands[1];
    b_scale = op.operands[3];
  }
  const LinearLayout &own = plan.partial ? *plan.partial : plan.result;
  const bool spread = plan.partial || plan.a.k_lane_bits != 0;
  const bool starts = addend && !spread;
  Registers sums = starts ? get(*addend, plan.result)
                          : Registers(own.registers(), llvm::ConstantFP::get(builder_.getFloatTy(), 0));
  set_line(op);
  Fragments a = fragments(op, op.operands[0], a_scale, plan.a, plan);
  Fragments b = fragments(op, op.operands[scaled ? 2 : 1], b_scale, plan.b, plan);
  unsigned used = 1u << plan.result_bits;
  unsigned n_tiles = plan.b.row_tiles(), m_tiles = plan.a.row_tiles();
  auto *vector_type = llvm::FixedVectorType::get(builder_.getFloatTy(), plan.mfma->result_registers());
  for (unsigned m = 0; m < m_tiles; ++m)
    for (unsigned n = 0; n < n_tiles; ++n) {
      size_t first = size_t(plan.tile(m, n)) * used;
      llvm::Value *sum = llvm::Constant::getNullValue(vector_type);
      for (unsigned i = 0; i < used; ++i)
        sum = builder_.CreateInsertElement(sum, sums[first + i], i);
      for (unsigned k = 0; k < plan.k_instructions; ++k)
        sum = mfma(plan, b, a, n, m, k, sum);
      for (unsigned i = 0; i < used; ++i)
        sums[first + i] = builder_.CreateExtractElement(sum, i);
    }
  if (plan.a.k_lane_bits != 0)
    for (llvm::Value *&sum : sums)
      sum = sum_over_steps(plan.a, sum);
  if (plan.partial)
    sums = sum_over_waves(sums, *plan.partial, plan.result);
  if (addend && spread) {
    const Registers before = get(*addend, plan.result);
    for (size_t i = 0; i < sums.size(); ++i)
      sums[i] = builder_.CreateFAdd(before[i], sums[i]);
  }
  define(result, plan.result, sums);
}

} // namespace nereid::codegen
