#pragma once

#include <string>

#include "base/result.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace nereid::jit {

/// The passes over LLVM IR: of LLVM's O3 those, in its order, that change the code of our kernels, and the
/// straight-line passes that LLVM has in its code generation (llvm_guard.h turns them off there). Error
/// (User): far more registers are live at a time than a lane has (large_code.h).
Status optimize(llvm::Module &module, llvm::TargetMachine &machine);

/// Assembler text of an optimised module.
Status generate_assembly(llvm::Module &module, llvm::TargetMachine &machine,
                         llvm::SmallVectorImpl<char> &text);

/// What decides the passes, for keys.
std::string pass_pipeline_identity();

} // namespace nereid::jit
