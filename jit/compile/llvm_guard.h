#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace nereid::jit {

/// Runs `work` so that crashes and fatal errors of LLVM end it with an error (owner Nereid) in place of the
/// process. The process's own signal handlers are in force again when no such work runs. After an error
/// everything that `work` held is lost, so it must own what it works on through pointers that the caller then
/// drops.
Status run_guarded(const char *what, llvm::function_ref<Status()> work);

/// Sets the command-line options of LLVM that Nereid's code wants, as their defaults too, so that a reset by
/// another user of the library (LLD, comgr) keeps them. They are global to the process: call it before every
/// compile.
Status set_llvm_options();
/// As text, for keys: "disable-lsr=1 amdgpu-scalar-ir-passes=0".
std::string llvm_options_text();
/// As arguments for another compiler on LLVM, with a pass pipeline of its own: "-mllvm", "-disable-lsr=1".
std::vector<std::string> llvm_options_arguments();

} // namespace nereid::jit
