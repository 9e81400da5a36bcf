#pragma once

#include <string>

#include "base/result.h"
#include "llvm/CodeGen/TargetPassConfig.h"

namespace nereid::jit {

/// Vector registers of machine code as they are just before they are allocated.
struct MachineDemand {
  unsigned registers = 0; ///< the most of a lane that are live at a time, 32 bits each
  unsigned values = 0;    ///< virtual registers
  bool has_loop = false;  ///< whether some of it may run again
};

/// Whether LLVM's greedy allocator, which tries to free every register for every value that finds none, would
/// take seconds, where a lane has so many registers available. Code without a loop, in which what is moved to
/// and from accumulation registers or scratch memory is moved once, counts as crowded earlier.
bool is_crowded(const MachineDemand &demand, unsigned available);

/// Adds to LLVM's machine passes, after the scalar registers are allocated: the vector registers of crowded
/// code are allocated in one pass, so that LLVM's own allocator finds none left to do. Error (Nereid):
/// another LLVM than the one that this is written for.
Status allocate_crowded_in_one_pass(llvm::TargetPassConfig &config, unsigned available);

/// What decides it, for keys.
std::string crowded_allocation_identity();

} // namespace nereid::jit
