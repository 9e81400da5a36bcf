#pragma once

#include <string>

#include "base/result.h"
#include "jit/compile/register_demand.h"
#include "llvm/IR/Function.h"

namespace nereid::jit {

/// Instructions of LLVM IR from which on code is looked at before it is generated. The largest kernels of the
/// library have less than 2,300.
inline constexpr unsigned large_code = 2500;

/// Of code generation that would take minutes, what is done instead.
struct LargeCode {
  RegisterDemand demand; ///< 0 for code that is not large
  /// More is live than a lane has registers. LLVM's greedy allocator would split live ranges for minutes:
  /// registers are allocated in one pass instead.
  bool crowded = false;
};

/// Lets LLVM's schedulers, whose time grows with the square of a block's length, see long blocks in pieces.
void cut_long_blocks(llvm::Function &kernel);

/// Whether registers for the demand can be allocated, and how. Error (User), with the debug line of the
/// highest demand as its line: more is spilled than scratch memory is compiled right for (jit/build.h).
Result<LargeCode> judge(const llvm::Function &kernel, const RegisterDemand &demand, unsigned waves);

/// What decides it, for keys.
std::string large_code_identity();

} // namespace nereid::jit
