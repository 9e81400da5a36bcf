// What was emitted and is not used.
#include "codegen/lower/dead_code.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Transforms/Utils/Local.h>

namespace nereid::codegen {

void remove_dead_code(llvm::Function &kernel) {
  for (llvm::BasicBlock &block : llvm::reverse(kernel))
    for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::reverse(block)))
      if (llvm::isInstructionTriviallyDead(&instruction))
        instruction.eraseFromParent();
}

} // namespace nereid::codegen
