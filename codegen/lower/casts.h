#pragma once

#include "codegen/lower/emit_context.h"
#include "codegen/lower/registers.h"

namespace nereid::codegen {

/// bf16 and f16 to f32; f32 stays.
llvm::Value *widen(llvm::IRBuilder<> &builder, llvm::Value *value);
/// f32 to a float type.
llvm::Value *narrow(llvm::IRBuilder<> &builder, llvm::Value *value, ir::Element element);

/// The registers of a tile to another element. Floats become integers by saturation to 32 bits (or 64), then
/// cut to the type; NaN gives 0. To and from fp8 and bf8 an instruction converts two neighbours.
Registers cast_all(llvm::IRBuilder<> &builder, const Registers &values, ir::Element from, ir::Element to);

/// cvt_scaled: the codes of two values in a byte or in two.
llvm::Value *cvt_scaled(EmitContext &context, const ir::Op &op, const Registers &operands);

} // namespace nereid::codegen
