#pragma once

#include <memory>

#include <llvm/IR/Module.h>

#include "base/result.h"
#include "dsl/ir/function.h"

namespace nereid::codegen {

/// Bytes of LDS that a workgroup can have on gfx950.
inline constexpr unsigned lds_limit = 160 * 1024;

/// The LLVM module of a kernel for gfx950: one amdgpu_kernel of the function's name, unoptimised, verified
/// IR. Arguments become kernarg entries in order. `function` must be verified and canonical. Errors: Nereid's
/// for what does not compile yet (see docs/lowering.md), the user's where the kernel asks for more than the
/// chip has.
Result<std::unique_ptr<llvm::Module>> lower(const ir::Function &function, llvm::LLVMContext &context);

} // namespace nereid::codegen
