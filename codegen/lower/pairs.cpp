// Float operations on two registers at a time.
#include "codegen/lower/pairs.h"

#include "codegen/lower/casts.h"
#include "codegen/lower/elementwise.h"
#include "codegen/lower/float_functions.h"
#include "codegen/lower/llvm_types.h"
#include "codegen/lower/softmax_weights.h"

namespace nereid::codegen {

namespace {

bool has_paired_form(const ir::Op &op) {
  switch (op.opcode) {
  case ir::Opcode::Add:
  case ir::Opcode::Sub:
  case ir::Opcode::Mul:
  case ir::Opcode::Exp:
  case ir::Opcode::Log:
  case ir::Opcode::Tanh:
  case ir::Opcode::Sigmoid:
    return true;
  default:
    return op.has("fast");
  }
}

llvm::Value *of_pairs(EmitContext &context, const ir::Op &op, const Registers &x) {
  llvm::IRBuilder<> &builder = context.builder;
  if (op.opcode == ir::Opcode::Exp && !op.has("fast") &&
      maximum_subtracted(context.plan.index, op.operands[0]))
    return exp_of_nonpositive(builder, x[0]);
  if (op.opcode == ir::Opcode::Cast)
    return x[0];
  if (op.opcode == ir::Opcode::Fma)
    return builder.CreateIntrinsic(x[0]->getType(), llvm::Intrinsic::fma, {x[0], x[1], x[2]});
  if (x.size() == 1)
    return op.has("fast") ? fast_function(builder, op.opcode, x[0])
                          : float_function(builder, op.opcode, x[0]);
  return op.has("fast") ? fast_divide(builder, x[0], x[1]) : float_binary(builder, op.opcode, x[0], x[1]);
}

} // namespace

llvm::Value *pair_of(llvm::IRBuilder<> &builder, llvm::Value *first, llvm::Value *second) {
  llvm::Value *pair = llvm::PoisonValue::get(llvm::FixedVectorType::get(first->getType(), 2));
  pair = builder.CreateInsertElement(pair, first, uint64_t{0});
  return builder.CreateInsertElement(pair, second, uint64_t{1});
}

std::optional<Registers> elementwise_in_pairs(EmitContext &context, const ir::Op &op,
                                              const std::vector<Registers> &operands) {
  const ir::Element element = context.type(op.result()).element;
  const bool fused = op.opcode == ir::Opcode::Fma && element == ir::Element::F32;
  const bool rounds =
      op.opcode == ir::Opcode::Cast && operands[0][0]->getType()->isFloatTy() && element == ir::Element::F16;
  const bool is_wide = element == ir::Element::F64 || operands[0][0]->getType()->isDoubleTy();
  if (!ir::is_float(element) || is_wide || operands[0].size() < 2 ||
      (!has_paired_form(op) && !fused && !rounds))
    return std::nullopt;
  llvm::IRBuilder<> &builder = context.builder;
  llvm::Type *narrow_pair = llvm::FixedVectorType::get(llvm_type(builder.getContext(), element), 2);
  llvm::Type *wide_pair = llvm::FixedVectorType::get(builder.getFloatTy(), 2);
  Registers results;
  for (size_t r = 0; r + 1 < operands[0].size(); r += 2) {
    Registers wide;
    for (const Registers &operand : operands)
      wide.push_back(pair_of(builder, widen(builder, operand[r]), widen(builder, operand[r + 1])));
    llvm::Value *result = of_pairs(context, op, wide);
    if (narrow_pair != wide_pair)
      result = builder.CreateFPTrunc(result, narrow_pair);
    results.push_back(builder.CreateExtractElement(result, uint64_t{0}));
    results.push_back(builder.CreateExtractElement(result, uint64_t{1}));
  }
  if (results.size() < operands[0].size()) {
    Registers last;
    for (const Registers &operand : operands)
      last.push_back(operand.back());
    results.push_back(elementwise(context, op, last));
  }
  return results;
}

} // namespace nereid::codegen
