#pragma once

#include "codegen/lower/emit_context.h"
#include "codegen/lower/registers.h"

namespace nereid::codegen {

/// One element of an elementwise operation's result from one of each operand.
llvm::Value *elementwise(EmitContext &context, const ir::Op &op, const Registers &operands);

/// Floats or integers.
llvm::Value *add_numbers(llvm::IRBuilder<> &builder, llvm::Value *a, llvm::Value *b);

/// Of f32.
llvm::Value *float_binary(llvm::IRBuilder<> &builder, ir::Opcode opcode, llvm::Value *a, llvm::Value *b);
/// Null for an operation that integers do not have.
llvm::Value *integer_binary(llvm::IRBuilder<> &builder, ir::Opcode opcode, bool is_signed, llvm::Value *a,
                            llvm::Value *b);

} // namespace nereid::codegen
