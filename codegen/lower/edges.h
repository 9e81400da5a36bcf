#pragma once

#include "codegen/lower/value_map.h"

namespace nereid::codegen {

/// What loops and branches hand over, each value as the registers that cross an edge.
using CarriedValues = std::vector<Registers>;

/// A phi for each register, without incoming values yet.
CarriedValues phis_of(llvm::IRBuilder<> &builder, const CarriedValues &values);
void add_incoming(const CarriedValues &phis, const CarriedValues &values, llvm::BasicBlock *from);

/// Values at the edges of control flow. Narrow elements cross as dwords, so that phis hold registers.
class EdgeEmitter {
public:
  EdgeEmitter(EmitContext &context, Packing &packing, ValueMap &values)
      : context_(context), packing_(packing), values_(values) {}

  Registers leave(ir::ValueId value, const LinearLayout &layout);
  void arrive(ir::ValueId value, const LinearLayout &layout, const Registers &crossed);

private:
  /// Bits of an element that crosses in dwords, else 0.
  unsigned packed_bits(ir::ValueId value, const LinearLayout &layout) const;

  EmitContext &context_;
  Packing &packing_;
  ValueMap &values_;
};

} // namespace nereid::codegen
