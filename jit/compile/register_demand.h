#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/Function.h"

namespace nereid::jit {

/// The most vector registers of a lane that are live at a time in the order of the code, and the debug line
/// of where.
struct RegisterDemand {
  unsigned registers = 0; ///< 32 bits each
  unsigned line = 0;
};

/// Of optimised LLVM IR. Pieces of a register (an element of a loaded vector, a byte of a dword) count as the
/// register that they are a piece of, values that `is_uniform` not at all: they are in scalar registers.
/// LLVM's scheduler may do with less by moving loads to their uses, or want more by moving them up.
RegisterDemand register_demand(const llvm::Function &kernel,
                               llvm::function_ref<bool(const llvm::Value &)> is_uniform);

/// VGPRs and AGPRs of a lane in a workgroup of so many waves.
unsigned registers_of_lane(unsigned waves);

} // namespace nereid::jit
