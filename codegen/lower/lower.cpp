// From a function to a verified LLVM module: plan, emit, verify.
#include "codegen/lower/lower.h"

#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include "codegen/lower/lowering.h"
#include "codegen/lower/target_attributes.h"

namespace nereid::codegen {

Result<std::unique_ptr<llvm::Module>> emit(const KernelPlan &plan, llvm::LLVMContext &context) {
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
  return module;
}

/// Loops that are split over the waves by iterations may turn out to need all waves in an iteration; then
/// they run as others do.
Result<std::unique_ptr<llvm::Module>> lower(const ir::Function &function, llvm::LLVMContext &context) {
  const bool asked = function.options.wave_split == ir::WaveSplit::K;
  Result<std::unique_ptr<const KernelPlan>> plan = plan_kernel(function, SplitLoops::Allowed);
  if (plan) {
    Result<std::unique_ptr<llvm::Module>> module = emit(**plan, context);
    if (module || (*plan)->layouts.wave_split.empty() || asked)
      return module;
  } else if (asked) {
    return plan.error();
  }
  NEREID_TRY(const auto unsplit, plan_kernel(function, SplitLoops::Never));
  return emit(*unsplit, context);
}

} // namespace nereid::codegen
