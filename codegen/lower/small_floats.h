#pragma once

#include <llvm/IR/IRBuilder.h>

#include "codegen/lower/registers.h"
#include "dsl/ir/element.h"

namespace nereid::codegen {

/// fp8 or bf8 elements, which are i8 values, as f32, f16 or bf16: exact. Two neighbours of one half of a
/// dword take one instruction.
Registers from_small_float(llvm::IRBuilder<> &builder, const Registers &codes, ir::Element from,
                           ir::Element to);

/// f32 values to fp8 or bf8, rounded to nearest even; too large ones become NaN (fp8) or infinite (bf8). Two
/// take one instruction.
Registers to_small_float(llvm::IRBuilder<> &builder, const Registers &values, ir::Element to);

} // namespace nereid::codegen
