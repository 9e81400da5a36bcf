// Matrix instructions and what adds up their results.
#include "codegen/lower/dot.h"

#include <llvm/IR/IntrinsicsAMDGPU.h>

#include "codegen/lower/branches.h"
#include "codegen/lower/llvm_types.h"
#include "codegen/lower/prefetched_body.h"
#include "codegen/lower/reduce.h"

namespace nereid::codegen {

bool is_folded_dot(const KernelPlan &plan, const ir::Op &op) {
  if (!ir::is_dot(op.opcode))
    return false;
  const FunctionIndex &index = plan.index;
  const ir::ValueId value = op.result();
  if (index.uses(value) != 1)
    return false;
  const ir::Op &user = *index.user(value);
  if (user.opcode != ir::Opcode::Add || index.block(user) != index.block(op) ||
      plan.layouts.assigned[user.result()] != plan.layouts.assigned[value])
    return false;
  const ir::Op *first = index.definition(user.operands[0]);
  return first == &op || !first || !is_folded_dot(plan, *first);
}

llvm::Value *mfma(llvm::IRBuilder<> &builder, const DotPlan &plan, const Fragments &b, const Fragments &a,
                  unsigned n_tile, unsigned m_tile, unsigned k, llvm::Value *accumulator) {
  const size_t b_at = n_tile * plan.k_instructions + k, a_at = m_tile * plan.k_instructions + k;
  llvm::Value *first = b.operands[b_at], *second = a.operands[a_at];
  std::vector<llvm::Value *> arguments = {first, second, accumulator};
  std::vector<llvm::Type *> overloads;
  llvm::Value *zero = builder.getInt32(0);
  if (plan.mfma->kind == MfmaKind::F8F6F4) {
    // Constant zeros in place of both scales: the form without scales.
    const Fragments::Scale none{zero, 0};
    const Fragments::Scale &b_scale = b.scales.empty() ? none : b.scales[b_at];
    const Fragments::Scale &a_scale = a.scales.empty() ? none : a.scales[a_at];
    arguments.insert(arguments.end(),
                     {builder.getInt32(plan.b.facts->format_code),
                      builder.getInt32(plan.a.facts->format_code), builder.getInt32(b_scale.byte),
                      b_scale.dword, builder.getInt32(a_scale.byte), a_scale.dword});
    overloads = {first->getType(), second->getType()};
  } else {
    arguments.insert(arguments.end(), {zero, zero, zero});
  }
  return builder.CreateIntrinsic(llvm::Intrinsic::lookupIntrinsicID(plan.mfma->intrinsic), overloads,
                                 arguments);
}

/// Adds up the partial results of lanes whose rows A lacks. Rotation is as good as exchange: lanes further up
/// in the row hold the same by then.
llvm::Value *DotEmitter::sum_over_steps(const DotOperandPlan &plan, llvm::Value *sum) {
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

/// Adds the dot of one tile to the accumulator `sum`, the registers of one instruction's result.
llvm::Value *DotEmitter::accumulate(const DotPlan &plan, const Fragments &b, const Fragments &a,
                                    unsigned n_tile, unsigned m_tile, llvm::Value *sum) {
  if (!plan.scales_accumulators) {
    for (unsigned k = 0; k < plan.k_instructions; ++k)
      sum = mfma(builder_, plan, b, a, n_tile, m_tile, k, sum);
    return sum;
  }
  const Registers &scales = a.sum_scales.empty() ? b.sum_scales : a.sum_scales;
  const size_t first = size_t(plan.tile(m_tile, n_tile)) << plan.result_bits;
  const unsigned in_group = plan.group_instructions();
  for (unsigned group = 0; group * in_group < plan.k_instructions; ++group) {
    llvm::Value *part = llvm::Constant::getNullValue(sum->getType());
    for (unsigned i = 0; i < in_group; ++i)
      part = mfma(builder_, plan, b, a, n_tile, m_tile, group * in_group + i, part);
    llvm::Value *scale = llvm::PoisonValue::get(sum->getType());
    for (unsigned i = 0; i < 1u << plan.result_bits; ++i)
      scale = builder_.CreateInsertElement(scale, scales[plan.sum_scale(first + i, group)], i);
    sum = builder_.CreateIntrinsic(llvm::Intrinsic::fma, {sum->getType()}, {part, scale, sum});
  }
  return sum;
}

void DotEmitter::accumulate_tile(const DotPlan &plan, const Fragments &b, const Fragments &a, unsigned n_tile,
                                 unsigned m_tile, Registers &accumulators) {
  const unsigned used = 1u << plan.result_bits;
  const size_t first = size_t(plan.tile(m_tile, n_tile)) * used;
  llvm::Value *sum = llvm::Constant::getNullValue(
      llvm::FixedVectorType::get(accumulators[first]->getType(), plan.mfma->result_registers()));
  for (unsigned i = 0; i < used; ++i)
    sum = builder_.CreateInsertElement(sum, accumulators[first + i], i);
  sum = accumulate(plan, b, a, n_tile, m_tile, sum);
  for (unsigned i = 0; i < used; ++i)
    accumulators[first + i] = builder_.CreateExtractElement(sum, i);
}

/// LLVM lets matrix instructions slip behind the next barrier, and keeps their operands beside those that are
/// read there. An assembler statement without an instruction does not move.
static void keep_before_barriers(llvm::IRBuilder<> &builder, const DotPlan &plan, Registers &accumulators) {
  const size_t used = size_t(1) << plan.result_bits;
  for (size_t first = 0; first < accumulators.size(); first += used) {
    llvm::Value *tile =
        llvm::PoisonValue::get(llvm::FixedVectorType::get(accumulators[first]->getType(), used));
    for (size_t i = 0; i < used; ++i)
      tile = builder.CreateInsertElement(tile, accumulators[first + i], i);
    tile = anchored(builder, tile);
    for (size_t i = 0; i < used; ++i)
      accumulators[first + i] = builder.CreateExtractElement(tile, i);
  }
}

/// Where waves or lanes hold partial results, the addend is added after these.
void DotEmitter::emit(const ir::Op &op, ir::ValueId result, std::optional<ir::ValueId> addend) {
  const DotPlan &plan = context_.plan.layouts.dots.at(&op);
  const DotSides sides = sides_of_dot(context_.function(), op);
  const LinearLayout &own = plan.partial ? *plan.partial : plan.result;
  const bool in_parts = plan.partial || plan.a.k_lane_bits != 0;
  llvm::Type *element = llvm_type(builder_.getContext(), context_.type(op.result()).element);
  Registers accumulators = addend && !in_parts
                               ? values_.get(*addend, plan.result)
                               : Registers(own.registers(), llvm::Constant::getNullValue(element));
  context_.set_line(op);
  const Fragments a = fragments_.fragments(sides.a, plan.a, plan);
  const Fragments b = fragments_.fragments(sides.b, plan.b, plan);
  for (unsigned m = 0; m < plan.a.row_tiles(); ++m)
    for (unsigned n = 0; n < plan.b.row_tiles(); ++n)
      accumulate_tile(plan, b, a, n, m, accumulators);
  if (is_in_lds_prefetch(context_.plan, op))
    keep_before_barriers(builder_, plan, accumulators);
  if (plan.a.k_lane_bits != 0)
    for (llvm::Value *&sum : accumulators)
      sum = sum_over_steps(plan.a, sum);
  if (plan.partial)
    accumulators = sum_over_waves(builder_, exchange_, accumulators, *plan.partial, plan.result);
  if (addend && in_parts) {
    const Registers before = values_.get(*addend, plan.result);
    for (size_t i = 0; i < accumulators.size(); ++i)
      accumulators[i] = builder_.CreateFAdd(before[i], accumulators[i]);
  }
  values_.define(result, plan.result, accumulators);
}

} // namespace nereid::codegen
