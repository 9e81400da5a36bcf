#pragma once

#include <string>

#include "base/result.h"
#include "jit/compile/register_demand.h"
#include "llvm/IR/Function.h"

namespace nereid::jit {

/// Instructions of LLVM IR (size_of_code) from which on code is looked at before and while it is generated.
/// The largest kernels of the library have less than 2,300.
inline constexpr unsigned large_code = 2500;

/// How many instructions LLVM works with: an instruction on a vector of elements of less than 32 bits counts
/// once for each of them, for most become an instruction and a register of their own.
unsigned size_of_code(const llvm::Function &kernel);

/// Lets LLVM's schedulers, whose time grows with the square of a block's length, see long blocks in pieces.
void cut_long_blocks(llvm::Function &kernel);

/// Error (User), with the debug line of the highest demand as its line: more registers would be spilled than
/// scratch memory is compiled right for (jit/build.h).
Status check_demand(const llvm::Function &kernel, const RegisterDemand &demand, unsigned waves);

/// What decides it, for keys.
std::string large_code_identity();

} // namespace nereid::jit
