// Constant additions back beside the buffer accesses that take them as their own offset.
#include "codegen/lower/sink_offsets.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsAMDGPU.h>
#include <llvm/IR/Module.h>

namespace nereid::codegen {

/// The operand number of the threads' offset; negative for other instructions.
static int offset_operand(const llvm::IntrinsicInst &access) {
  switch (access.getIntrinsicID()) {
  case llvm::Intrinsic::amdgcn_raw_ptr_buffer_load:
    return 1;
  case llvm::Intrinsic::amdgcn_raw_ptr_buffer_store:
    return 2;
  default:
    return -1;
  }
}

void sink_offsets(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function)) {
      auto *access = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
      const int at = access ? offset_operand(*access) : -1;
      if (at < 0)
        continue;
      auto *sum = llvm::dyn_cast<llvm::BinaryOperator>(access->getArgOperand(at));
      if (!sum || sum->getParent() == access->getParent() ||
          (sum->getOpcode() != llvm::Instruction::Add && sum->getOpcode() != llvm::Instruction::Or) ||
          !llvm::isa<llvm::ConstantInt>(sum->getOperand(1)))
        continue;
      llvm::Instruction *copy = sum->clone();
      copy->insertBefore(access->getIterator());
      access->setArgOperand(at, copy);
    }
}

} // namespace nereid::codegen
