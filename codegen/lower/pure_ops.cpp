// Pure operations: sources have no operand registers, views reindex their operand's, elementwise operations
// go register by register.
#include "codegen/lower/pure_ops.h"

#include <llvm/IR/IntrinsicsAMDGPU.h>

#include "codegen/assign/operand_layout.h"
#include "codegen/lower/casts.h"
#include "codegen/lower/elementwise.h"
#include "codegen/lower/lane_moves.h"
#include "codegen/lower/llvm_types.h"
#include "codegen/lower/pairs.h"
#include "codegen/lower/shared_divisor.h"
#include "codegen/lower/softmax_weights.h"
#include "codegen/lower/thread_position.h"

namespace nereid::codegen {

namespace {

llvm::Value *program_id(llvm::IRBuilder<> &builder, int64_t axis) {
  static constexpr llvm::Intrinsic::ID ids[] = {llvm::Intrinsic::amdgcn_workgroup_id_x,
                                                llvm::Intrinsic::amdgcn_workgroup_id_y,
                                                llvm::Intrinsic::amdgcn_workgroup_id_z};
  return builder.CreateIntrinsic(ids[axis], {});
}

/// Block counts are the first three words of the implicit arguments (code object version 5 and later).
llvm::Value *num_programs(llvm::IRBuilder<> &builder, int64_t axis) {
  llvm::Value *implicit = builder.CreateIntrinsic(llvm::Intrinsic::amdgcn_implicitarg_ptr, {});
  llvm::Value *address = builder.CreateConstGEP1_32(builder.getInt32Ty(), implicit, axis);
  llvm::LoadInst *count = builder.CreateAlignedLoad(builder.getInt32Ty(), address, llvm::Align(4));
  count->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(builder.getContext(), {}));
  return count;
}

llvm::Value *constant(EmitContext &context, const ir::Op &op) {
  llvm::LLVMContext &llvm = context.builder.getContext();
  const ir::Element element = context.type(op.result()).element;
  llvm::APInt bits(ir::facts(element).bits, static_cast<uint64_t>(op.integer("bits")), false, true);
  return from_bits(context.builder, llvm::ConstantInt::get(llvm, bits), llvm_type(llvm, element));
}

Registers arange(EmitContext &context, const ir::Op &op, const LinearLayout &layout) {
  llvm::IRBuilder<> &builder = context.builder;
  llvm::Value *thread = flat_of_thread(context, layout);
  const uint64_t from_thread = thread_bits(layout);
  Registers registers;
  for (uint32_t r = 0; r < layout.registers(); ++r) {
    uint64_t own = flat_of_register(layout, r);
    llvm::Value *bits = builder.getInt32(own);
    llvm::Value *flat =
        (own & from_thread) == 0 ? builder.CreateOr(thread, bits, "", true) : builder.CreateXor(thread, bits);
    auto first =
        static_cast<uint32_t>(op.integer("start")) + static_cast<uint32_t>(odd_part_of_register(layout, r));
    registers.push_back(builder.CreateAdd(flat, builder.getInt32(first)));
  }
  return registers;
}

/// Where lanes or waves walk over the pair, each thread picks its half.
Registers join(EmitContext &context, const LinearLayout &layout, const Registers &even,
               const Registers &odd) {
  llvm::IRBuilder<> &builder = context.builder;
  llvm::Value *thread_is_odd = nullptr;
  for (Space space : {Space::Lane, Space::Wave})
    for (unsigned bit = 0; bit < layout.bits(space); ++bit)
      if (layout.flat_basis(space, bit) & 1) {
        llvm::Value *number = space == Space::Lane ? context.lane : context.wave;
        llvm::Value *set = builder.CreateNot(are_clear(builder, number, 1u << bit));
        thread_is_odd = thread_is_odd ? builder.CreateXor(thread_is_odd, set) : set;
      }
  Registers registers;
  for (uint32_t r = 0; r < layout.registers(); ++r) {
    bool register_is_odd = flat_of_register(layout, r) & 1;
    llvm::Value *mine = register_is_odd ? odd[r] : even[r];
    llvm::Value *other = register_is_odd ? even[r] : odd[r];
    registers.push_back(thread_is_odd ? builder.CreateSelect(thread_is_odd, other, mine) : mine);
  }
  return registers;
}

Registers split(const LinearLayout &layout, unsigned result, const Registers &both) {
  Registers half;
  for (uint32_t r = 0; r < layout.registers(); ++r)
    half.push_back(both[2 * r + result]);
  return half;
}

} // namespace

LinearLayout wanted_layout(const ir::Function &function, const ir::Op &op, unsigned operand,
                           const LinearLayout &layout) {
  return ir::facts(op.opcode).op_class == ir::OpClass::Shape ? operand_layout(function, op, operand, layout)
                                                             : layout;
}

Registers emit_pure(EmitContext &context, const ir::Op &op, unsigned result, const LinearLayout &layout,
                    const std::vector<Registers> &operands) {
  switch (op.opcode) {
  case ir::Opcode::ProgramId:
    return {program_id(context.builder, op.integer("axis"))};
  case ir::Opcode::NumPrograms:
    return {num_programs(context.builder, op.integer("axis"))};
  case ir::Opcode::Arange:
    return arange(context, op, layout);
  case ir::Opcode::Constant:
    return Registers(layout.registers(), constant(context, op));
  case ir::Opcode::Split:
    return split(layout, result, operands[0]);
  case ir::Opcode::Join:
    return join(context, layout, operands[0], operands[1]);
  default:
    break;
  }
  if (ir::facts(op.opcode).op_class == ir::OpClass::Shape)
    return operands[0];
  if (op.opcode == ir::Opcode::Cast)
    return cast_all(context.builder, operands[0], context.type(op.operands[0]).element,
                    context.type(op.result()).element);
  if (std::optional<Registers> weights = softmax_weights(context, op, operands))
    return *std::move(weights);
  if (std::optional<Registers> quotients = divide_by_shared(context, op, operands))
    return *std::move(quotients);
  if (std::optional<Registers> pairs = elementwise_in_pairs(context, op, operands))
    return *std::move(pairs);
  Registers registers;
  for (uint32_t r = 0; r < layout.registers(); ++r) {
    Registers elements;
    for (const Registers &operand : operands)
      elements.push_back(operand[r]);
    registers.push_back(elementwise(context, op, elements));
  }
  return registers;
}

} // namespace nereid::codegen
