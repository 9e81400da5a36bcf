#pragma once

#include <memory>

#include <llvm/IR/Module.h>

#include "base/result.h"
#include "codegen/plan/kernel_plan.h"
#include "dsl/ir/function.h"

namespace nereid::codegen {

/// Bytes of LDS that a workgroup can have on gfx950.
inline constexpr unsigned lds_limit = 160 * 1024;

/// The LLVM module of a planned kernel: one amdgpu_kernel of the function's name, unoptimised, verified IR.
/// Arguments become kernarg entries in order. Errors: Nereid's for what does not compile yet (see
/// docs/lowering.md), the user's where the kernel asks for more than the chip has.
Result<std::unique_ptr<llvm::Module>> emit(const KernelPlan &plan, llvm::LLVMContext &context);

/// plan_kernel, then emit. `function` must be verified and canonical.
Result<std::unique_ptr<llvm::Module>> lower(const ir::Function &function, llvm::LLVMContext &context);

} // namespace nereid::codegen
