#pragma once

#include <llvm/IR/IRBuilder.h>

#include "dsl/ir/type.h"

namespace nereid::codegen {

/// The LLVM type of one element (an i1 is an i1), or of a global pointer.
llvm::Type *llvm_type(llvm::LLVMContext &context, const ir::Type &type);
llvm::Type *llvm_type(llvm::LLVMContext &context, ir::Element element);

/// Bits of an element in a register: 64 of a pointer.
unsigned bits_of(llvm::Type *type);

/// What one memory access of so many bytes moves: an integer of up to 4 bytes, or a vector of dwords.
llvm::Type *access_type(llvm::IRBuilder<> &builder, unsigned bytes);

} // namespace nereid::codegen
