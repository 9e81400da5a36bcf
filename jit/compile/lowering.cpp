// From a kernel's IR to the module that a compiler is given.
#include "codegen/lower/lower.h"

#include "jit/compile/compiler.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/Module.h"

namespace nereid::jit {

ModuleMaker lowered(const ir::Function &function, Waits waits) {
  ModuleMaker make = [&function](llvm::LLVMContext &context) { return codegen::lower(function, context); };
  return waits == Waits::Everything ? waiting_for_everything(std::move(make)) : make;
}

ModuleMaker waiting_for_everything(ModuleMaker make) {
  return [make = std::move(make)](llvm::LLVMContext &context) {
    Result<std::unique_ptr<llvm::Module>> module = make(context);
    if (module)
      for (llvm::Function &function : **module)
        for (llvm::BasicBlock &block : function)
          for (llvm::Instruction &instruction : block)
            if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
                call && call->getIntrinsicID() == llvm::Intrinsic::amdgcn_s_waitcnt)
              call->setArgOperand(0, llvm::ConstantInt::get(call->getArgOperand(0)->getType(), 0));
    return module;
  };
}

} // namespace nereid::jit
