#pragma once

#include <llvm/IR/Function.h>

namespace nereid::codegen {

/// Removes instructions that nobody uses: the pieces of loaded dwords, most of which are used whole. Every
/// pass after it, LLVM's verifier first, would look at them.
void remove_dead_code(llvm::Function &kernel);

} // namespace nereid::codegen
