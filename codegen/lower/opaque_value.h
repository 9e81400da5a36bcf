#pragma once

#include <llvm/IR/IRBuilder.h>

namespace nereid::codegen {

enum class OpaqueIn : char {
  VectorRegister = 'v',
  Accumulator = 'a',
};

/// The same value in a register, of which LLVM knows no more than its type. With `stays` it is neither moved
/// out of its block nor dropped.
llvm::Value *opaque_value(llvm::IRBuilder<> &builder, llvm::Value *value,
                          OpaqueIn in = OpaqueIn::VectorRegister, bool stays = false);

} // namespace nereid::codegen
