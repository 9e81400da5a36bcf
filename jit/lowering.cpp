#include "codegen/lower.h"

#include "jit/compiler.h"
#include "llvm/IR/Module.h"

namespace nereid::jit {

ModuleMaker lowered(const ir::Function &function) {
  return [&function](llvm::LLVMContext &context) { return codegen::lower(function, context); };
}

} // namespace nereid::jit
