// Branches around what only some lanes do.
#include "codegen/lower/branches.h"

#include <llvm/IR/InlineAsm.h>

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
  auto *signature = llvm::FunctionType::get(vector->getType(), {vector->getType()}, false);
  return builder.CreateCall(signature, llvm::InlineAsm::get(signature, "", "=v,0", true), {vector});
}

} // namespace nereid::codegen
