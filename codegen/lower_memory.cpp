#include <algorithm>

#include <llvm/IR/InlineAsm.h>

#include "codegen/lowering.h"
#include "codegen/register_groups.h"

namespace nereid::codegen {

llvm::Align Lowering::access_alignment(ir::ValueId pointer, unsigned elements) const {
  const AxisInfo &info = axes_[pointer];
  unsigned bytes = ir::byte_size(type(pointer).element);
  int64_t best = bytes;
  for (unsigned d = 0; d < info.contiguity.size(); ++d)
    if (info.contiguity[d] >= elements)
      best = std::max(best, info.divisibility_at(d, elements, bytes));
  return llvm::Align(std::min<int64_t>(best, 16));
}

Registers Lowering::guarded(llvm::Value *condition, const Registers &otherwise,
                            const std::function<Registers()> &body) {
  if (!condition || llvm::isa<llvm::ConstantInt>(condition)) {
    if (condition && llvm::cast<llvm::ConstantInt>(condition)->isZero())
      return otherwise;
    return body();
  }
  llvm::BasicBlock *before = builder_.GetInsertBlock();
  llvm::BasicBlock *then = new_block("active");
  llvm::BasicBlock *after = new_block("after");
  builder_.CreateCondBr(condition, then, after);
  builder_.SetInsertPoint(then);
  Registers made = body();
  llvm::BasicBlock *end = builder_.GetInsertBlock();
  builder_.CreateBr(after);
  builder_.SetInsertPoint(after);
  Registers merged;
  for (size_t i = 0; i < made.size(); ++i) {
    llvm::PHINode *phi = builder_.CreatePHI(made[i]->getType(), 2);
    phi->addIncoming(made[i], end);
    phi->addIncoming(otherwise[i], before);
    merged.push_back(phi);
  }
  return merged;
}

llvm::Value *Lowering::load_vector(const ir::Op &op, llvm::Value *pointer, ir::Element element,
                                   unsigned count, llvm::Align align) {
  unsigned bits = count * 8 * ir::byte_size(element);
  llvm::Type *i32 = builder_.getInt32Ty();
  llvm::Type *access = bits < 32    ? static_cast<llvm::Type *>(builder_.getIntNTy(bits))
                       : bits == 32 ? i32
                                    : llvm::FixedVectorType::get(i32, bits / 32);
  llvm::LoadInst *load = builder_.CreateAlignedLoad(access, pointer, align);
  if (op.has("cache") && op.string("cache") == "stream")
    load->setMetadata(llvm::LLVMContext::MD_nontemporal,
                      llvm::MDNode::get(context_, llvm::ConstantAsMetadata::get(builder_.getInt32(1))));
  return load;
}

/// Whole groups are loaded as dwords; groups under one mask share a branch.
void Lowering::lower_load(const ir::Op &op) {
  order_accesses(op);
  ir::ValueId result = op.result();
  ir::Element element = type(result).element;
  unsigned bytes = ir::byte_size(element);
  bool masked = op.operands.size() > 1;
  LinearLayout layout = natural_layout(result);
  const AxisInfo *mask_info = masked ? &axes_[op.operands[1]] : nullptr;
  RegisterGroups groups =
      group_registers(layout, vector_access(layout, axes_[op.operands[0]], mask_info, bytes));
  unsigned count = groups.access.elements();
  llvm::Align align = access_alignment(op.operands[0], count);
  llvm::Type *memory_type = builder_.getIntNTy(8 * bytes);

  Registers pointers = addresses(op.operands[0], groups.leaders);
  Registers masks = masked ? get(op.operands[1], groups.leaders) : Registers();
  Registers others = op.operands.size() > 2 ? get(op.operands[2], layout) : Registers();
  auto fill = [&](uint32_t group) {
    Registers elements;
    for (unsigned n = 0; n < count; ++n) {
      llvm::Value *other = others.empty() ? llvm::Constant::getNullValue(llvm_type(context_, element))
                                          : others[groups.member(group, n)];
      elements.push_back(element == ir::Element::I1 ? builder_.CreateZExt(other, memory_type) : other);
    }
    Registers dwords = pack(elements, 8 * bytes);
    llvm::Value *vector = dwords_to_vector(dwords);
    return count * bytes < 4 ? builder_.CreateTrunc(vector, builder_.getIntNTy(8 * bytes * count)) : vector;
  };

  Registers registers(layout.registers());
  for (uint32_t group = 0; group < groups.first.size();) {
    uint32_t end = group + 1;
    while (end < groups.first.size() && (!masked || masks[end] == masks[group]))
      ++end;
    Registers otherwise;
    for (uint32_t g = group; masked && g < end; ++g)
      otherwise.push_back(fill(g));
    Registers loaded = guarded(masked ? masks[group] : nullptr, otherwise, [&] {
      Registers vectors;
      for (uint32_t g = group; g < end; ++g)
        vectors.push_back(load_vector(op, pointers[g], element, count, align));
      return vectors;
    });
    for (uint32_t g = group; g < end; ++g) {
      bool is_bool = element == ir::Element::I1;
      Registers elements =
          unpack(loaded[g - group], is_bool ? memory_type : llvm_type(context_, element), count);
      for (unsigned n = 0; n < count; ++n)
        registers[groups.member(g, n)] =
            is_bool ? builder_.CreateICmpNE(elements[n], builder_.getInt8(0)) : elements[n];
    }
    group = end;
  }
  define(result, layout, registers);
}

/// Keeps the computation of a value where it stands. LLVM moves matrix instructions into the block that uses
/// their result, although they read the operands of lanes that are switched off there.
llvm::Value *Lowering::anchored(llvm::Value *vector) {
  auto *signature = llvm::FunctionType::get(vector->getType(), {vector->getType()}, false);
  return builder_.CreateCall(signature, llvm::InlineAsm::get(signature, "", "=v,0", true), {vector});
}

/// The owner of each element stores it; groups under one mask share a branch.
void Lowering::lower_store(const ir::Op &op) {
  order_accesses(op);
  ir::Element element = type(op.operands[0]).element;
  unsigned bytes = ir::byte_size(element);
  bool masked = op.operands.size() > 2;
  const LinearLayout &layout = layouts_.writes.at(&op);
  const AxisInfo *mask_info = masked ? &axes_[op.operands[2]] : nullptr;
  RegisterGroups groups =
      group_registers(layout, vector_access(layout, axes_[op.operands[0]], mask_info, bytes));
  unsigned count = groups.access.elements();
  llvm::Align align = access_alignment(op.operands[0], count);

  Registers pointers = addresses(op.operands[0], groups.leaders);
  Registers values = get(op.operands[1], layout);
  Registers masks = masked ? get(op.operands[2], groups.leaders) : Registers();
  llvm::Value *owner = owner_condition(layout);
  for (uint32_t group = 0; group < groups.first.size();) {
    uint32_t end = group + 1;
    while (end < groups.first.size() && (!masked || masks[end] == masks[group]))
      ++end;
    Registers vectors;
    for (uint32_t g = group; g < end; ++g) {
      Registers elements;
      for (unsigned n = 0; n < count; ++n) {
        llvm::Value *value = values[groups.member(g, n)];
        elements.push_back(element == ir::Element::I1 ? builder_.CreateZExt(value, builder_.getInt8Ty())
                                                      : value);
      }
      llvm::Value *vector = dwords_to_vector(pack(elements, 8 * bytes));
      if (index_.comes_from_dot(op.operands[1]) && (owner || masked))
        vector = anchored(vector);
      vectors.push_back(
          count * bytes < 4 ? builder_.CreateTrunc(vector, builder_.getIntNTy(8 * bytes * count)) : vector);
    }
    llvm::Value *mask = masked ? masks[group] : nullptr;
    llvm::Value *condition = owner && mask ? builder_.CreateAnd(owner, mask) : owner ? owner : mask;
    guarded(condition, {}, [&] {
      for (uint32_t g = group; g < end; ++g)
        builder_.CreateAlignedStore(vectors[g - group], pointers[g], align);
      return Registers();
    });
    group = end;
  }
}

std::optional<ir::ValueId> Lowering::root(ir::ValueId pointer) const {
  const ir::Op *op = index_.definition(pointer);
  if (op && (op->opcode == ir::Opcode::PtrAdd || ir::facts(op->opcode).op_class == ir::OpClass::Shape))
    return root(op->operands[0]);
  for (const ir::Argument &argument : function_.arguments)
    if (argument.value == pointer)
      return pointer;
  return std::nullopt;
}

/// The trace's order holds for the whole program: where another thread may have touched the same memory since
/// the last barrier, and one of the two accesses writes, all waves meet first. The same pointers in the same
/// layout are each thread's own, unless waves hold copies.
void Lowering::order_accesses(const ir::Op &op) {
  bool writes = ir::facts(op.opcode).effect == ir::OpEffect::Effect;
  ir::ValueId pointer = op.operands[0];
  LinearLayout layout = writes ? layouts_.writes.at(&op) : natural_layout(op.result());
  std::optional<ir::ValueId> mine = root(pointer);
  const bool copied = layout.free_mask(Space::Wave) != 0;
  bool conflict = std::any_of(accesses_.begin(), accesses_.end(), [&](const Access &other) {
    bool same_memory = !mine || !other.root || *mine == *other.root;
    bool own = !copied && other.pointer == pointer && other.layout == layout;
    return (writes || other.writes) && same_memory && !own;
  });
  if (conflict)
    barrier();
  accesses_.push_back({mine, pointer, writes, layout});
}

} // namespace nereid::codegen
