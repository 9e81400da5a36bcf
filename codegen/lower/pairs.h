#pragma once

#include <optional>

#include "codegen/lower/emit_context.h"
#include "codegen/lower/registers.h"

namespace nereid::codegen {

/// Two values of one type as a vector.
llvm::Value *pair_of(llvm::IRBuilder<> &builder, llvm::Value *first, llvm::Value *second);

/// A float operation's registers by two: v_pk_add_f32, v_pk_mul_f32 and v_pk_fma_f32 take a pair in one
/// instruction, v_cvt_pk_* round one. Nothing where the operation has no such form or there is one register.
std::optional<Registers> elementwise_in_pairs(EmitContext &context, const ir::Op &op,
                                              const std::vector<Registers> &operands);

} // namespace nereid::codegen
