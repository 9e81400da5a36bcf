#pragma once

#include <llvm/IR/IRBuilder.h>

#include "dsl/ir/op.h"

namespace nereid::codegen {

/// sin, cos, atan, asin, acos, log1p or expm1 of an f32, computed in f64 and rounded once: denormals and
/// special values included, any angle. Errors: 1 ulp at most. nullptr for any other operation.
llvm::Value *wide_function(llvm::IRBuilder<> &builder, ir::Opcode opcode, llvm::Value *x);

/// pow, atan2 (within 1 ulp) or fmod (exact) of two f32. nullptr for any other operation.
llvm::Value *wide_function(llvm::IRBuilder<> &builder, ir::Opcode opcode, llvm::Value *x, llvm::Value *y);

} // namespace nereid::codegen
