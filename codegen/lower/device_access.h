#pragma once

#include <llvm/IR/IRBuilder.h>

/// Global accesses at device scope, without a descriptor. LLVM knows them as relaxed atomics, which are no
/// vectors and at most 8 bytes.
namespace nereid::codegen {

/// `type`, `vector`: an integer or dwords.
llvm::Value *device_load(llvm::IRBuilder<> &builder, llvm::Type *type, llvm::Value *pointer,
                         llvm::Align align);
void device_store(llvm::IRBuilder<> &builder, llvm::Value *vector, llvm::Value *pointer, llvm::Align align);

} // namespace nereid::codegen
