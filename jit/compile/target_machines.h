#pragma once

#include <future>
#include <memory>

#include "llvm/Target/TargetMachine.h"

namespace nereid::jit {

/// A target machine for gfx950 with its tables of the chip, which take longer to make than a small kernel's
/// code: those that are not in use wait for the next compile. Null where LLVM has no AMDGPU target.
std::unique_ptr<llvm::TargetMachine> take_target_machine();
/// The same, made on another thread where none waits; LLVM's options have to be set (llvm_guard.h).
std::future<std::unique_ptr<llvm::TargetMachine>> start_target_machine();
/// After use, unless LLVM crashed meanwhile.
void return_target_machine(std::unique_ptr<llvm::TargetMachine> machine);

} // namespace nereid::jit
