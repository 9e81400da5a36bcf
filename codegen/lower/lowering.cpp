// One kernel: its arguments, its body, its end.
#include "codegen/lower/lowering.h"

#include "codegen/layout/layout_error.h"
#include "codegen/lower/dead_code.h"

namespace nereid::codegen {

Lowering::Lowering(const KernelPlan &plan, llvm::Module &module)
    : context(plan, module), packing(context.builder), lds(context), order(context),
      exchange(context, packing, lds, order), values(context, exchange, cache),
      addresses(context, values, cache), memory(context, packing, order, values, addresses),
      atomics(context, lds, order, values, addresses), reduce(context, exchange, values),
      gather(context, lds, order, values), six_bit(context, packing, lds, order, values),
      fragments(context, packing, values, six_bit), dots(context, exchange, values, fragments),
      quantize(context, packing, lds, order, exchange, values, six_bit), edges(context, packing, values),
      folds(*this), loops(*this), ops(*this) {}

Status Lowering::run() {
  try {
    emit_kernel();
    return {};
  } catch (const EmitError &error) {
    return error.error();
  } catch (const LayoutError &error) {
    return error.error(context.location());
  }
}

void Lowering::emit_kernel() {
  const ir::Function &function = context.function();
  if (!context.plan.has_agprs)
    context.kernel.addFnAttr("amdgpu-agpr-alloc", "0");
  RegionCache::Scope region(cache);
  for (size_t i = 0; i < function.arguments.size(); ++i) {
    const ir::Argument &argument = function.arguments[i];
    llvm::Value *value = context.kernel.getArg(i);
    if (value->getType()->isIntegerTy(8))
      value = context.builder.CreateTrunc(value, context.builder.getInt1Ty());
    if (argument.constant)
      value = llvm::ConstantInt::getSigned(value->getType(), *argument.constant);
    values.define_scalar(argument.value, value);
  }
  ops.emit_block(function.body);
  context.builder.CreateRetVoid();
  lds.finish();
  remove_dead_code(context.kernel);
  context.lines.finish();
}

} // namespace nereid::codegen
