// How values cross the edges of control flow.
#include "codegen/lower/edges.h"

#include "codegen/lower/llvm_types.h"

namespace nereid::codegen {

CarriedValues phis_of(llvm::IRBuilder<> &builder, const CarriedValues &values) {
  CarriedValues phis;
  for (const Registers &registers : values) {
    phis.emplace_back();
    for (llvm::Value *value : registers)
      phis.back().push_back(builder.CreatePHI(value->getType(), 2));
  }
  return phis;
}

void add_incoming(const CarriedValues &phis, const CarriedValues &values, llvm::BasicBlock *from) {
  for (size_t i = 0; i < phis.size(); ++i)
    for (size_t r = 0; r < phis[i].size(); ++r)
      llvm::cast<llvm::PHINode>(phis[i][r])->addIncoming(values[i][r], from);
}

unsigned EdgeEmitter::packed_bits(ir::ValueId value, const LinearLayout &layout) const {
  const ir::Type &type = context_.type(value);
  const unsigned bits = ir::facts(type.element).bits;
  const bool packs = !type.pointer && (bits == 8 || bits == 16) && layout.registers() % (32 / bits) == 0;
  return packs ? bits : 0;
}

Registers EdgeEmitter::leave(ir::ValueId value, const LinearLayout &layout) {
  Registers registers = values_.get(value, layout);
  const unsigned bits = packed_bits(value, layout);
  return bits == 0 ? registers : packing_.pack(registers, bits);
}

void EdgeEmitter::arrive(ir::ValueId value, const LinearLayout &layout, const Registers &crossed) {
  const unsigned bits = packed_bits(value, layout);
  if (bits == 0)
    return values_.define(value, layout, crossed);
  llvm::Type *element = llvm_type(context_.builder.getContext(), context_.type(value));
  Registers registers;
  for (llvm::Value *dword : crossed) {
    Registers elements = packing_.unpack(dword, element, 32 / bits);
    registers.insert(registers.end(), elements.begin(), elements.end());
  }
  values_.define(value, layout, registers);
}

} // namespace nereid::codegen
