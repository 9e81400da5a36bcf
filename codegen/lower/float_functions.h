#pragma once

#include <llvm/IR/IRBuilder.h>

#include "dsl/ir/op.h"

namespace nereid::codegen {

/// exp, exp2, log, log2, sqrt, rsqrt, tanh, erf, sigmoid, floor, ceil or round of an f32, denormals and
/// special values included. Errors: 1 ulp at most, tanh, erf and sigmoid 2 ulp.
llvm::Value *float_function(llvm::IRBuilder<> &builder, ir::Opcode opcode, llvm::Value *x);

} // namespace nereid::codegen
