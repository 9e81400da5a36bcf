#include "codegen/lower/lower.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include "codegen/assign/operand_layout.h"
#include "codegen/layout/layout_error.h"
#include "codegen/lower/lowering.h"
#include "codegen/lower/target_attributes.h"

namespace nereid::codegen {

Lowering::Lowering(const KernelPlan &plan, llvm::Module &module)
    : index_(plan.index), function_(plan.function()), axes_(plan.axes), layouts_(plan.layouts),
      context_(plan, module), builder_(context_.builder), packing_(builder_), lds_(context_),
      order_(context_), exchange_(context_, packing_, lds_, order_), values_(context_, exchange_, cache_),
      addresses_(context_, values_, cache_), scalar_layout_(scalar_layout(function_.options.waves)) {}

Status Lowering::run() {
  try {
    return emit_kernel();
  } catch (const EmitError &error) {
    return error.error();
  } catch (const LayoutError &error) {
    return error.error(context_.place());
  }
}

Status Lowering::emit_kernel() {
  if (!layouts_.dots.empty() && dots_fit_vgprs())
    context_.kernel.addFnAttr("amdgpu-agpr-alloc", "0");
  else if (!layouts_.wave_split.empty() && function_.options.wave_split == ir::WaveSplit::Auto)
    return nereid_error("a wave has no room for the sums of whole tiles", "use wave_split=n");
  RegionCache::Scope region(cache_);
  for (size_t i = 0; i < function_.arguments.size(); ++i) {
    const ir::Argument &argument = function_.arguments[i];
    llvm::Value *value = context_.kernel.getArg(i);
    if (argument.constant)
      value = llvm::ConstantInt::getSigned(value->getType(), *argument.constant);
    values_.define_scalar(argument.value, value);
  }
  lower_block(function_.body);
  builder_.CreateRetVoid();
  lds_.finish();
  context_.lines.finish();
  return {};
}

void Lowering::lower_block(const ir::Block &block) {
  for (const ir::Op &op : block.ops)
    if (op.opcode != ir::Opcode::Yield)
      lower_op(op);
}

void Lowering::lower_op(const ir::Op &op) {
  context_.set_line(op);
  switch (op.opcode) {
  case ir::Opcode::Load:
    if (auto issued = issued_.find(&op); issued != issued_.end())
      return finish_load(op, issued->second);
    return lower_load(op);
  case ir::Opcode::Store:
    return lower_store(op);
  case ir::Opcode::AtomicAdd:
  case ir::Opcode::AtomicMax:
  case ir::Opcode::AtomicExchange:
  case ir::Opcode::AtomicCompareExchange:
    return lower_atomic(op);
  case ir::Opcode::Dot:
  case ir::Opcode::DotScaled:
    return is_folded_dot(op) ? void() : lower_dot(op, op.result(), std::nullopt);
  case ir::Opcode::Quantize:
    return lower_quantize(op);
  case ir::Opcode::CumSum:
    return lower_cumsum(op);
  case ir::Opcode::For:
    return lower_for(op);
  case ir::Opcode::If:
    return lower_if(op);
  case ir::Opcode::Assume:
  case ir::Opcode::DeviceAssert:
  case ir::Opcode::DevicePrint:
    return lower_statement(op);
  default:
    break;
  }
  if (ir::facts(op.opcode).op_class == ir::OpClass::Reduce)
    return lower_reduce(op);
  if (op.opcode == ir::Opcode::Add)
    for (ir::ValueId operand : op.operands)
      if (const ir::Op *dot = index_.definition(operand); dot && is_folded_dot(*dot))
        return lower_dot(*dot, op.result(), op.operands[operand == op.operands[0] ? 1 : 0]);
  for (unsigned i = 0; i < op.results.size(); ++i) {
    ir::ValueId result = op.results[i];
    if (context_.type(result).rank() == 0)
      values_.define_scalar(result, values_.compute(op, i, scalar_layout_)[0]);
    else if (layouts_.homes[result])
      values_.define(result, layouts_.home(result), values_.compute(op, i, layouts_.home(result)));
  }
}

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
