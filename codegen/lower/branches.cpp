// Branches around what only some lanes do.
#include "codegen/lower/branches.h"

#include "codegen/lower/opaque_value.h"

namespace nereid::codegen {

Registers guarded(EmitContext &context, llvm::Value *condition, const Registers &otherwise,
                  const std::function<Registers()> &body) {
  if (!condition || llvm::isa<llvm::ConstantInt>(condition)) {
    if (condition && llvm::cast<llvm::ConstantInt>(condition)->isZero())
      return otherwise;
    return body();
  }
  llvm::IRBuilder<> &builder = context.builder;
  llvm::BasicBlock *before = builder.GetInsertBlock();
  llvm::BasicBlock *then = context.new_block("active");
  llvm::BasicBlock *after = context.new_block("after");
  builder.CreateCondBr(condition, then, after);
  builder.SetInsertPoint(then);
  Registers active = body();
  llvm::BasicBlock *end = builder.GetInsertBlock();
  builder.CreateBr(after);
  builder.SetInsertPoint(after);
  Registers merged;
  for (size_t i = 0; i < active.size(); ++i) {
    llvm::PHINode *phi = builder.CreatePHI(active[i]->getType(), 2);
    phi->addIncoming(active[i], end);
    phi->addIncoming(otherwise[i], before);
    merged.push_back(phi);
  }
  return merged;
}

llvm::Value *anchored(llvm::IRBuilder<> &builder, llvm::Value *vector) {
  return opaque_value(builder, vector, OpaqueIn::VectorRegister, /*stays=*/true);
}

} // namespace nereid::codegen
