#pragma once

#include "base/result.h"
#include "dsl/ir/function.h"
#include "jit/compile/compiler.h"

namespace nereid::jit {

/// Compiles a kernel, and verifies all contracts of its LDS pipelines in the machine code. A kernel that
/// fails is compiled again with every wait of its own waiting for everything, and a warning is printed. Error
/// (Nereid's): that fails too.
Result<Binary> compile_and_verify(const Compiler &compiler, const ir::Function &function, JitTimes &times);

} // namespace nereid::jit
