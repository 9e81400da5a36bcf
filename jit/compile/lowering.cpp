// From a kernel's IR to the module that a compiler is given.
#include "codegen/lower/lower.h"

#include "jit/compile/compiler.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/Module.h"

namespace nereid::jit {
namespace {

void wait_for_everything(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::BasicBlock &block : function)
      for (llvm::Instruction &instruction : block)
        if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
            call && call->getIntrinsicID() == llvm::Intrinsic::amdgcn_s_waitcnt)
          call->setArgOperand(0, llvm::ConstantInt::get(call->getArgOperand(0)->getType(), 0));
}

} // namespace

ModuleMaker lowered(const ir::Function &function, Waits waits,
                    std::vector<codegen::PipelineContract> *contracts) {
  return [&function, waits, contracts](llvm::LLVMContext &context) -> Result<std::unique_ptr<llvm::Module>> {
    NEREID_TRY(codegen::LoweredKernel kernel, codegen::lower(function, context));
    if (waits == Waits::Everything)
      wait_for_everything(*kernel.module);
    if (contracts)
      *contracts = std::move(kernel.contracts);
    return std::move(kernel.module);
  };
}

Result<std::string> plan_text(const ir::Function &function) {
  NEREID_TRY(const auto plan, codegen::plan_kernel(function));
  return plan->text();
}

} // namespace nereid::jit
