// From a function to a verified LLVM module: plan, emit, verify.
#include "codegen/lower/lower.h"

#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include "codegen/lower/lowering.h"
#include "codegen/lower/target_attributes.h"

namespace nereid::codegen {

Result<LoweredKernel> emit(const KernelPlan &plan, llvm::LLVMContext &context) {
  const std::string &name = plan.function().name;
  auto module = std::make_unique<llvm::Module>(name, context);
  set_target(*module);
  Lowering lowering(plan, *module);
  NEREID_CHECK(lowering.run());
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (llvm::verifyModule(*module, &stream))
    return nereid_error("the lowered kernel " + name + " is not valid LLVM IR: " + text,
                        "this is a defect of Nereid; please report it with the kernel");
  return LoweredKernel{std::move(module), std::move(lowering.contracts)};
}

Result<LoweredKernel> lower(const ir::Function &function, llvm::LLVMContext &context) {
  NEREID_TRY(const auto plan, plan_kernel(function));
  return emit(*plan, context);
}

} // namespace nereid::codegen
