#pragma once

#include "codegen/assign/dot_plan.h"
#include "codegen/lower/value_map.h"

namespace nereid::codegen {

/// Formats of 6 bits. A group of 32 values is 24 bytes in a row, which no layout gives to a lane, because the
/// odd factor of a dimension is its outermost part. So codes pass through LDS in row-major order.
class SixBitEmitter {
public:
  SixBitEmitter(EmitContext &context, Packing &packing, LdsMemory &lds, MemoryOrder &order, ValueMap &values)
      : context_(context), builder_(context.builder), packing_(packing), lds_(lds), order_(order),
        values_(values) {}

  /// An operand of each instruction of a dot's side: tile * k_instructions + k, as the scales are numbered.
  Registers operands(const DotSide &side, const DotOperandPlan &plan, unsigned k_dim);
  /// The same for an instruction of halves (`half` is bf16 or f16), which the codes become; all are exact.
  Registers operands_of_halves(const DotSide &side, const DotOperandPlan &plan, unsigned k_dim,
                               llvm::Type *half);
  /// Groups of codes, six dwords each, by register of `groups` (a layout of the scales), become the tile of
  /// bytes in `layout`.
  Registers spread_groups(const std::vector<Registers> &codes, const LinearLayout &groups,
                          const LinearLayout &layout);

private:
  llvm::Value *halves_of_run(llvm::Value *address, ir::Format format, llvm::Type *half);
  llvm::Value *codes_in_lds(ir::ValueId value, unsigned k_dim);
  Registers coordinates(const LinearLayout &layout, unsigned dim);
  Registers array_offsets(const LinearLayout &layout, unsigned inner);
  llvm::Value *byte_address(llvm::Value *base, llvm::Value *offset);

  EmitContext &context_;
  llvm::IRBuilder<> &builder_;
  Packing &packing_;
  LdsMemory &lds_;
  MemoryOrder &order_;
  ValueMap &values_;
};

} // namespace nereid::codegen
