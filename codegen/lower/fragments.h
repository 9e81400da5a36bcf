#pragma once

#include "codegen/lower/six_bit.h"

namespace nereid::codegen {

/// The operand registers of all instructions of a dot's side.
struct Fragments {
  struct Scale {
    llvm::Value *dword = nullptr;
    unsigned byte = 0;
  };

  unsigned k_instructions = 1;
  Registers operands; ///< tile * k_instructions + k
  std::vector<Scale> scales;
  Registers sum_scales; ///< f32, see DotPlan::sum_scale
};

/// Packs the tiles of a dot's sides into what its instructions take.
class FragmentEmitter {
public:
  FragmentEmitter(EmitContext &context, Packing &packing, ValueMap &values, SixBitEmitter &six_bit)
      : context_(context), builder_(context.builder), packing_(packing), values_(values), six_bit_(six_bit) {}

  Fragments fragments(const DotSide &side, const DotOperandPlan &plan, const DotPlan &dot);

private:
  Registers packed_operands(const DotSide &side, const DotOperandPlan &plan, llvm::Type *half);
  Registers for_each_step(const DotOperandPlan &plan, const Registers &operands);
  Registers widen_codes(const Registers &dwords, ir::Format format, llvm::Type *half);
  Fragments::Scale scale_operand(llvm::Value *byte);
  llvm::Value *power_of_scale(llvm::Value *byte);

  EmitContext &context_;
  llvm::IRBuilder<> &builder_;
  Packing &packing_;
  ValueMap &values_;
  SixBitEmitter &six_bit_;
};

} // namespace nereid::codegen
