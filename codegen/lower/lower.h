#pragma once

#include <memory>
#include <vector>

#include <llvm/IR/Module.h>

#include "base/result.h"
#include "codegen/plan/kernel_plan.h"
#include "codegen/schedule/lds_pipeline_contract.h"
#include "dsl/ir/function.h"

namespace nereid::codegen {

struct LoweredKernel {
  std::unique_ptr<llvm::Module> module;
  std::vector<PipelineContract> contracts; ///< what the machine code has to keep
};

/// The LLVM module of a planned kernel: one amdgpu_kernel of the function's name, unoptimised, verified IR.
/// Arguments become kernarg entries in order. Errors: Nereid's for what does not compile yet (see
/// docs/lowering.md), the user's where the kernel asks for more than the chip has.
Result<LoweredKernel> emit(const KernelPlan &plan, llvm::LLVMContext &context);

/// plan_kernel, then emit. `function` must be verified and canonical.
Result<LoweredKernel> lower(const ir::Function &function, llvm::LLVMContext &context);

} // namespace nereid::codegen
