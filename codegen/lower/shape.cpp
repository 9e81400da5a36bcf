#include "codegen/assign/operand_layout.h"
#include "codegen/lower/lowering.h"

namespace nereid::codegen {

Registers Lowering::compute_arange(const ir::Op &op, const LinearLayout &layout) {
  llvm::Value *thread = flat_of_thread(context_, layout);
  const uint64_t from_thread = thread_bits(layout);
  Registers registers;
  for (uint32_t r = 0; r < layout.registers(); ++r) {
    uint64_t own = flat_of_register(layout, r);
    llvm::Value *constant = builder_.getInt32(own);
    llvm::Value *flat = (own & from_thread) == 0 ? builder_.CreateOr(thread, constant, "", true)
                                                 : builder_.CreateXor(thread, constant);
    auto first =
        static_cast<uint32_t>(op.integer("start")) + static_cast<uint32_t>(odd_part_of_register(layout, r));
    registers.push_back(builder_.CreateAdd(flat, builder_.getInt32(first)));
  }
  return registers;
}

Registers Lowering::compute_shape(const ir::Op &op, unsigned result, const LinearLayout &layout) {
  if (op.opcode == ir::Opcode::Split) {
    Registers both = get(op.operands[0], operand_layout(function_, op, 0, layout));
    Registers half;
    for (uint32_t r = 0; r < layout.registers(); ++r)
      half.push_back(both[2 * r + result]);
    return half;
  }
  if (op.opcode != ir::Opcode::Join)
    return get(op.operands[0], operand_layout(function_, op, 0, layout));
  Registers even = get(op.operands[0], operand_layout(function_, op, 0, layout));
  Registers odd = get(op.operands[1], operand_layout(function_, op, 1, layout));
  // Where lanes or waves walk over the pair, each thread picks its half.
  llvm::Value *thread_is_odd = nullptr;
  for (Space space : {Space::Lane, Space::Wave})
    for (unsigned bit = 0; bit < layout.bits(space); ++bit)
      if (layout.flat_basis(space, bit) & 1) {
        llvm::Value *set = builder_.CreateNot(
            are_clear(builder_, space == Space::Lane ? context_.lane : context_.wave, 1u << bit));
        thread_is_odd = thread_is_odd ? builder_.CreateXor(thread_is_odd, set) : set;
      }
  Registers registers;
  for (uint32_t r = 0; r < layout.registers(); ++r) {
    bool register_is_odd = flat_of_register(layout, r) & 1;
    llvm::Value *mine = register_is_odd ? odd[r] : even[r];
    llvm::Value *other = register_is_odd ? even[r] : odd[r];
    registers.push_back(thread_is_odd ? builder_.CreateSelect(thread_is_odd, other, mine) : mine);
  }
  return registers;
}

} // namespace nereid::codegen
