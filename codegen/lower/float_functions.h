#pragma once

#include <llvm/IR/IRBuilder.h>

#include "dsl/ir/op.h"

namespace nereid::codegen {

/// exp, exp2, log, log2, sqrt, rsqrt, tanh, erf, sigmoid, floor, ceil or round of an f32, denormals and
/// special values included; exp, log and tanh also of a pair, sqrt (rounded correctly), floor, ceil and round
/// also of an f64. Errors: 1 ulp at most, tanh, erf and sigmoid 2 ulp.
llvm::Value *float_function(llvm::IRBuilder<> &builder, ir::Opcode opcode, llvm::Value *x);
/// exp of an f32 or a pair that is no more than 0, or a NaN: fewer instructions.
llvm::Value *exp_of_nonpositive(llvm::IRBuilder<> &builder, llvm::Value *x);
/// 2^64 exp(x), likewise: a normal number, 2^-86 for all x below -104.
llvm::Value *scaled_exp_of_nonpositive(llvm::IRBuilder<> &builder, llvm::Value *x);

/// The fast forms of exp, exp2, log and tanh, of an f32 or of a pair; dsl/ops/fast.h says their errors.
llvm::Value *fast_function(llvm::IRBuilder<> &builder, ir::Opcode opcode, llvm::Value *x);
/// a times the hardware's reciprocal of b.
llvm::Value *fast_divide(llvm::IRBuilder<> &builder, llvm::Value *a, llvm::Value *b);

} // namespace nereid::codegen
