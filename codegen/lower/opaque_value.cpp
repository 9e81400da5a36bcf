// Values whose origin is hidden from LLVM.
#include "codegen/lower/opaque_value.h"

#include <string>

#include <llvm/IR/InlineAsm.h>

namespace nereid::codegen {

llvm::Value *opaque_value(llvm::IRBuilder<> &builder, llvm::Value *value, OpaqueIn in, bool stays) {
  const std::string constraints{'=', static_cast<char>(in), ',', '0'};
  auto *signature = llvm::FunctionType::get(value->getType(), {value->getType()}, false);
  return builder.CreateCall(signature, llvm::InlineAsm::get(signature, "", constraints, stays), {value});
}

} // namespace nereid::codegen
