#pragma once

#include <llvm/IR/IRBuilder.h>

#include "codegen/lower/emit_context.h"
#include "codegen/lower/registers.h"
#include "dsl/ir/function.h"

namespace nereid::codegen {

/// One element of an inline_asm operation. LLVM counts no wait states for what stands in inline assembly, so
/// that the text is given those that its operands and its result may need.
llvm::Value *inline_asm(EmitContext &context, const ir::Op &op, const Registers &operands);

} // namespace nereid::codegen
