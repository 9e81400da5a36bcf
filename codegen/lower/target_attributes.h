#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

#include "dsl/ir/function.h"

namespace nereid::codegen {

/// Triple, data layout and module flags of a gfx950 code object.
void set_target(llvm::Module &module);

/// By which LLVM knows the chip: equal for all kernels.
void set_chip_attributes(llvm::Function &kernel);

/// A kernel function with the function's arguments and everything that LLVM should know of how it is
/// launched.
llvm::Function *make_kernel(const ir::Function &function, llvm::Module &module);

} // namespace nereid::codegen
