#pragma once

#include <memory>
#include <string>

#include "jit/compile/compiler.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

namespace nereid::jit {

/// What one run of LLVM works on; lost when LLVM crashes in it.
struct LlvmJob {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
  llvm::SmallVector<char, 0> text;   ///< assembler text
  llvm::SmallVector<char, 0> object; ///< relocatable object
  std::string messages;              ///< of the assembler
  std::string errors;                ///< diagnostics of severity error
  bool resource_limit = false;       ///< one of them is about a limit of the hardware
};

/// Makes and verifies a module, then runs `steps` on it, guarded against crashes; diagnostics become errors.
/// `what` names the work in messages: "compiling".
Status run_llvm_job(const char *what, const ModuleMaker &make, JitTimes &times,
                    llvm::function_ref<Status(LlvmJob &)> steps);

/// Registers LLVM's AMDGPU back end, assembler and disassembler; once a process.
void initialize_amdgpu();

} // namespace nereid::jit
