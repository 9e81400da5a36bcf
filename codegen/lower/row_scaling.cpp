// Products with factors that are nearly always 1, behind a branch of the wave.
#include "codegen/lower/row_scaling.h"

#include <algorithm>
#include <unordered_set>

#include <llvm/IR/IntrinsicsAMDGPU.h>

#include "codegen/lower/branches.h"
#include "codegen/lower/pairs.h"
#include "codegen/lower/prefetched_body.h"
#include "codegen/lower/value_layout.h"

namespace nereid::codegen {

namespace {

/// Products a factor from which on they are worth a comparison of the factor and a branch.
constexpr size_t products_of_factor = 8;

/// Whether any lane has a factor that is not 1; multiplying by 1 changes nothing.
llvm::Value *wave_scales(llvm::IRBuilder<> &builder, const Registers &factors) {
  llvm::Value *any = builder.getFalse();
  std::unordered_set<llvm::Value *> seen;
  for (llvm::Value *factor : factors)
    if (seen.insert(factor).second)
      any =
          builder.CreateOr(any, builder.CreateFCmpUNE(factor, llvm::ConstantFP::get(factor->getType(), 1.0)));
  llvm::Value *lanes = builder.CreateIntrinsic(llvm::Intrinsic::amdgcn_ballot, {builder.getInt64Ty()}, {any});
  return builder.CreateICmpNE(lanes, builder.getInt64(0));
}

} // namespace

std::optional<Registers> scale_rows(EmitContext &context, ValueMap &values, const ir::Op &op) {
  if (op.opcode != ir::Opcode::Mul || context.type(op.result()).rank() == 0 ||
      context.type(op.result()).element != ir::Element::F32 || !is_in_lds_prefetch(context.plan, op))
    return std::nullopt;
  const std::vector<ir::ValueId> &carried = context.plan.index.block(op)->arguments;
  const size_t side = std::find(carried.begin(), carried.end(), op.operands[0]) != carried.end() ? 0 : 1;
  if (std::find(carried.begin(), carried.end(), op.operands[side]) == carried.end())
    return std::nullopt;
  const LinearLayout layout = assigned_layout(context.plan, op.result());
  const Registers factors = values.get(op.operands[1 - side], layout);
  const std::unordered_set<llvm::Value *> distinct(factors.begin(), factors.end());
  if (distinct.size() * products_of_factor > factors.size())
    return std::nullopt;
  const Registers scaled = values.get(op.operands[side], layout);
  context.set_line(op);
  llvm::Value *scales = wave_scales(context.builder, factors);
  return guarded(context, scales, scaled,
                 [&] { return *elementwise_in_pairs(context, op, {scaled, factors}); });
}

} // namespace nereid::codegen
