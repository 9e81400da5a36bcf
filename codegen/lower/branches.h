#pragma once

#include <functional>

#include "codegen/lower/emit_context.h"
#include "codegen/lower/registers.h"

namespace nereid::codegen {

/// Runs `body` where `condition` holds (null: everywhere); `body` gives values, which are merged with
/// `otherwise`.
Registers guarded(EmitContext &context, llvm::Value *condition, const Registers &otherwise,
                  const std::function<Registers()> &body);

/// Keeps the computation of a value in the block where it stands. LLVM moves matrix instructions into the
/// block that uses their result, although they read the operands of lanes that are switched off there.
llvm::Value *anchored(llvm::IRBuilder<> &builder, llvm::Value *vector);

} // namespace nereid::codegen
