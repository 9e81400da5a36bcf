#include "codegen/lower/lowering.h"

namespace nereid::codegen {

namespace {

llvm::AtomicOrdering ordering_of(const std::string &order) {
  if (order == "acquire")
    return llvm::AtomicOrdering::Acquire;
  if (order == "release")
    return llvm::AtomicOrdering::Release;
  if (order == "acq_rel")
    return llvm::AtomicOrdering::AcquireRelease;
  return llvm::AtomicOrdering::Monotonic;
}

llvm::AtomicRMWInst::BinOp operation_of(ir::Opcode opcode, ir::Element element) {
  using I = llvm::AtomicRMWInst;
  switch (opcode) {
  case ir::Opcode::AtomicAdd:
    return ir::is_float(element) ? I::FAdd : I::Add;
  case ir::Opcode::AtomicMax:
    return ir::is_float(element) ? I::FMaximum : ir::is_signed(element) ? I::Max : I::UMax;
  default:
    return I::Xchg;
  }
}

} // namespace

/// One element's atomic in the thread that owns it; gives the old value.
llvm::Value *Lowering::atomic_of(const ir::Op &op, llvm::Value *pointer, llvm::Value *value,
                                 llvm::Value *desired) {
  llvm::SyncScope::ID scope =
      builder_.getContext().getOrInsertSyncScopeID(op.string("scope") == "workgroup" ? "workgroup" : "agent");
  llvm::AtomicOrdering order = ordering_of(op.string("order"));
  ir::Element element = context_.type(op.operands[0]).element;
  llvm::Align align(ir::byte_size(element));
  llvm::MDNode *empty = llvm::MDNode::get(builder_.getContext(), {});
  if (desired) {
    llvm::Type *bits = builder_.getIntNTy(ir::facts(element).bits);
    llvm::AtomicOrdering failure = llvm::AtomicCmpXchgInst::getStrongestFailureOrdering(order);
    llvm::Value *pair =
        builder_.CreateAtomicCmpXchg(pointer, builder_.CreateBitCast(value, bits),
                                     builder_.CreateBitCast(desired, bits), align, order, failure, scope);
    return builder_.CreateBitCast(builder_.CreateExtractValue(pair, 0), value->getType());
  }
  llvm::AtomicRMWInst *atomic =
      builder_.CreateAtomicRMW(operation_of(op.opcode, element), pointer, value, align, order, scope);
  atomic->setMetadata("amdgpu.no.fine.grained.memory", empty);
  atomic->setMetadata("amdgpu.no.remote.memory", empty);
  if (element == ir::Element::F32)
    atomic->setMetadata("amdgpu.ignore.denormal.mode", empty);
  return atomic;
}

/// The program's order towards other programs is that of all its waves: what they did before is released, and
/// what was acquired is seen by all of them.
void Lowering::atomic_fence(const ir::Op &op, bool before) {
  llvm::AtomicOrdering order = ordering_of(op.string("order"));
  llvm::AtomicOrdering fence = before ? llvm::AtomicOrdering::Release : llvm::AtomicOrdering::Acquire;
  if (order != fence && order != llvm::AtomicOrdering::AcquireRelease)
    return;
  llvm::SyncScope::ID scope =
      builder_.getContext().getOrInsertSyncScopeID(op.string("scope") == "workgroup" ? "workgroup" : "agent");
  if (!before)
    order_.barrier();
  builder_.CreateFence(fence, scope);
  if (before)
    order_.barrier();
}

/// The old values go from their owners to all that hold copies of the result.
Registers Lowering::share_old_values(const Registers &old, const LinearLayout &layout, llvm::Value *owner) {
  if (!owner)
    return old;
  llvm::Type *element = old[0]->getType();
  unsigned bytes = static_cast<unsigned>(element->getPrimitiveSizeInBits()) / 8;
  uint32_t blocks = 1;
  for (unsigned d = 0; d < layout.rank(); ++d)
    blocks *= layout.dim(d).odd;
  llvm::Value *base = lds_.scratch((blocks << layout.coordinate_bits()) * bytes);
  llvm::Value *thread = flat_of_thread(context_, layout);
  auto address = [&](uint32_t r) {
    // Odd indices number blocks of powers of two.
    const Coordinates at = layout.apply({r, 0, 0});
    uint32_t block = 0;
    for (unsigned d = 0; d < layout.rank(); ++d)
      block = block * layout.dim(d).odd + (at[d] >> layout.dim(d).bits);
    llvm::Value *flat = builder_.CreateXor(thread, builder_.getInt32(flat_of_register(layout, r)));
    flat = builder_.CreateAdd(flat, builder_.getInt32(block << layout.coordinate_bits()));
    return builder_.CreateGEP(element, base, flat);
  };
  order_.barrier();
  guarded(owner, {}, [&] {
    for (uint32_t r = 0; r < old.size(); ++r)
      builder_.CreateAlignedStore(old[r], address(r), llvm::Align(bytes));
    return Registers();
  });
  order_.barrier();
  Registers shared;
  for (uint32_t r = 0; r < old.size(); ++r)
    shared.push_back(builder_.CreateAlignedLoad(element, address(r), llvm::Align(bytes)));
  return shared;
}

void Lowering::lower_atomic(const ir::Op &op) {
  order_.before(op);
  bool exchange = op.opcode == ir::Opcode::AtomicCompareExchange;
  size_t mask_operand = exchange ? 3 : 2;
  const LinearLayout &layout = layouts_.writes.at(&op);
  Registers pointers = addresses_.pointers(op.operands[0], layout);
  Registers values = values_.get(op.operands[1], layout);
  Registers desired = exchange ? values_.get(op.operands[2], layout) : Registers(values.size());
  Registers masks =
      op.operands.size() > mask_operand ? values_.get(op.operands[mask_operand], layout) : Registers();
  atomic_fence(op, true);
  llvm::Value *owner = owner_condition(context_, layout);
  if (index_.comes_from_dot(op.operands[1]) && (owner || !masks.empty()))
    for (llvm::Value *&value : values)
      value = from_bits(builder_, anchored(to_bits(builder_, value)), value->getType());
  Registers old;
  for (size_t r = 0; r < pointers.size(); ++r) {
    llvm::Value *mask = masks.empty() ? nullptr : masks[r];
    llvm::Value *condition = owner && mask ? builder_.CreateAnd(owner, mask) : owner ? owner : mask;
    Registers merged = guarded(condition, {llvm::Constant::getNullValue(values[r]->getType())},
                               [&] { return Registers{atomic_of(op, pointers[r], values[r], desired[r])}; });
    old.push_back(merged[0]);
  }
  atomic_fence(op, false);
  ir::ValueId result = op.result();
  if (index_.uses(result) == 0)
    return values_.define(result, layout, old);
  values_.define_result(result, layout, share_old_values(old, layout, owner));
}

} // namespace nereid::codegen
