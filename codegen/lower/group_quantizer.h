#pragma once

#include "codegen/lower/emit_context.h"
#include "codegen/lower/packing.h"

namespace nereid::codegen {

struct QuantizeFacts;

/// Quantises groups of 32 values as a quantize operation says (dsl/interpreter/numbers.h has the rules).
class GroupQuantizer {
public:
  /// A lane holds a group or, where `lanes` has bits, a part of it; lanes that differ in these bits alone
  /// hold the rest.
  GroupQuantizer(EmitContext &context, Packing &packing, const ir::Op &op, uint32_t lanes);

  /// An f32 pattern whose exponent is the e8m0 byte of the group; its other bits say nothing. `group` is what
  /// the lane has of it, a multiple of 8 values.
  llvm::Value *scale(const Registers &group);
  /// Dwords of codes, under that scale.
  Registers codes(const Registers &group, llvm::Value *scale);

private:
  llvm::Value *largest_magnitude(const Registers &group);
  llvm::Value *largest_of_floats(const Registers &group);
  llvm::Value *largest_of_lanes(llvm::Value *magnitude);
  Registers to_e2m1(const Registers &group, llvm::Value *factor);
  Registers to_byte_codes(const Registers &group, llvm::Value *scale, llvm::Value *factor);
  Registers to_six_bits(const Registers &group, llvm::Value *factor);
  llvm::Value *limited(llvm::Value *value, llvm::Value *limit);
  llvm::Value *opaque_unless_loaded(llvm::Value *dword, llvm::Value *first_element);

  EmitContext &context_;
  llvm::IRBuilder<> &builder_;
  Packing &packing_;
  const ir::Op &op_;
  const QuantizeFacts &facts_;
  uint32_t lanes_;
};

} // namespace nereid::codegen
