// Softmax: weights that only their sum and their quotients by it see.
#include "codegen/lower/softmax_weights.h"

#include <functional>

#include <llvm/ADT/MapVector.h>
#include <llvm/IR/IntrinsicsAMDGPU.h>

#include "codegen/lower/float_functions.h"
#include "codegen/lower/pairs.h"

namespace nereid::codegen {

namespace {

/// The quotient of the weights by their sum, if that is all they are for; their sum, 1 or more as the maximum
/// has the weight 1, is of the maximum's rows.
const ir::Op *quotient_of(const FunctionIndex &index, const ir::Op &weights) {
  const ir::Function &function = index.function();
  const ir::ValueId weight = weights.result();
  if (weights.opcode != ir::Opcode::Exp || weights.has("fast") ||
      function.type(weight).element != ir::Element::F32 || index.uses(weight) != 2)
    return nullptr;
  const ir::Op *maximum = maximum_subtracted(index, weights.operands[0]);
  const ir::Op *quotient = index.user(weight);
  if (!maximum || quotient->opcode != ir::Opcode::Div || quotient->has("fast") ||
      quotient->operands[0] != weight)
    return nullptr;
  ir::ValueId total = quotient->operands[1];
  const ir::Op *sum = index.definition(total);
  while (sum && index.uses(total) == 1 &&
         (sum->opcode == ir::Opcode::Broadcast || sum->opcode == ir::Opcode::ExpandDims)) {
    total = sum->operands[0];
    sum = index.definition(total);
  }
  const bool is_own = sum && sum->opcode == ir::Opcode::ReduceSum && index.uses(total) == 1 &&
                      sum->operands[0] == weight && sum->integer("axis") == maximum->integer("axis");
  return is_own ? quotient : nullptr;
}

/// 1 / x correctly rounded, but of a mantissa of ones, where it may be a power of two: then quotients of
/// powers of two are those by the sum's upper neighbour, which may as well be the sum; all others are right.
llvm::Value *reciprocal(llvm::IRBuilder<> &builder, llvm::Value *x) {
  llvm::Type *type = x->getType();
  llvm::Value *minus = builder.CreateFNeg(x);
  llvm::Value *nearest = builder.CreateIntrinsic(llvm::Intrinsic::amdgcn_rcp, {type}, {x});
  for (int step = 0; step < 2; ++step) {
    llvm::Value *rest =
        builder.CreateIntrinsic(type, llvm::Intrinsic::fma, {minus, nearest, llvm::ConstantFP::get(type, 1)});
    nearest = builder.CreateIntrinsic(type, llvm::Intrinsic::fma, {rest, nearest, nearest});
  }
  return nearest;
}

/// Of values or pairs; correctly rounded where `inverse` is (Markstein).
llvm::Value *divide(llvm::IRBuilder<> &builder, llvm::Value *a, llvm::Value *b, llvm::Value *inverse) {
  llvm::Value *estimate = builder.CreateFMul(a, inverse);
  llvm::Value *rest =
      builder.CreateIntrinsic(a->getType(), llvm::Intrinsic::fma, {builder.CreateFNeg(b), estimate, a});
  return builder.CreateIntrinsic(a->getType(), llvm::Intrinsic::fma, {rest, inverse, estimate});
}

/// The registers of a tile that an operation takes together: two of them as a pair, or one.
using Taken = std::function<llvm::Value *(const Registers &)>;

/// Of registers by two; the last of an odd number is by itself.
Registers by_pairs(llvm::IRBuilder<> &builder, size_t count,
                   const std::function<llvm::Value *(const Taken &)> &make) {
  Registers results;
  for (size_t r = 0; r < count; r += 2) {
    if (r + 1 == count) {
      results.push_back(make([&](const Registers &of) { return of[r]; }));
      break;
    }
    llvm::Value *pair = make([&](const Registers &of) { return pair_of(builder, of[r], of[r + 1]); });
    results.push_back(builder.CreateExtractElement(pair, uint64_t{0}));
    results.push_back(builder.CreateExtractElement(pair, uint64_t{1}));
  }
  return results;
}

} // namespace

const ir::Op *maximum_subtracted(const FunctionIndex &index, ir::ValueId value) {
  const ir::Op *difference = index.definition(value);
  if (!difference || difference->opcode != ir::Opcode::Sub)
    return nullptr;
  const ir::Op *maximum = index.definition(difference->operands[1]);
  if (maximum && maximum->opcode == ir::Opcode::Broadcast)
    maximum = index.definition(maximum->operands[0]);
  const ir::Op *expanded = maximum && maximum->opcode == ir::Opcode::ExpandDims ? maximum : nullptr;
  if (expanded)
    maximum = index.definition(expanded->operands[0]);
  if (!maximum || maximum->opcode != ir::Opcode::ReduceMax || maximum->operands[0] != difference->operands[0])
    return nullptr;
  const bool is_of_own_row = expanded ? expanded->integer("axis") == maximum->integer("axis")
                                      : index.function().type(maximum->result()).rank() == 0;
  return is_of_own_row ? maximum : nullptr;
}

std::optional<Registers> softmax_weights(EmitContext &context, const ir::Op &op,
                                         const std::vector<Registers> &operands) {
  const FunctionIndex &index = context.plan.index;
  llvm::IRBuilder<> &builder = context.builder;
  if (op.opcode == ir::Opcode::Exp && quotient_of(index, op))
    return by_pairs(builder, operands[0].size(), [&](const Taken &taken) {
      return scaled_exp_of_nonpositive(builder, taken(operands[0]));
    });
  const ir::Op *weights = op.opcode == ir::Opcode::Div ? index.definition(op.operands[0]) : nullptr;
  if (!weights || quotient_of(index, *weights) != &op)
    return std::nullopt;
  llvm::MapVector<llvm::Value *, llvm::Value *> reciprocals;
  Registers inverse;
  for (llvm::Value *sum : operands[1]) {
    llvm::Value *&known = reciprocals[sum];
    if (!known)
      known = reciprocal(builder, sum);
    inverse.push_back(known);
  }
  return by_pairs(builder, operands[0].size(), [&](const Taken &taken) {
    return divide(builder, taken(operands[0]), taken(operands[1]), taken(inverse));
  });
}

} // namespace nereid::codegen
