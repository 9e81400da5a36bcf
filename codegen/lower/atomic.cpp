// Atomics, their fences, and how the old values reach the threads that want them.
#include "codegen/lower/atomic.h"

#include "codegen/lower/branches.h"
#include "codegen/lower/lane_moves.h"
#include "codegen/lower/memory_access.h"
#include "codegen/lower/thread_position.h"

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

llvm::SyncScope::ID AtomicEmitter::scope_of(const ir::Op &op) const {
  const char *scope = op.string("scope") == "workgroup" ? "workgroup" : "agent";
  return builder_.getContext().getOrInsertSyncScopeID(scope);
}

llvm::Value *AtomicEmitter::compare_exchange(const ir::Op &op, llvm::Value *pointer, llvm::Value *expected,
                                             llvm::Value *desired) {
  const llvm::AtomicOrdering order = ordering_of(op.string("order"));
  const llvm::AtomicOrdering failure = llvm::AtomicCmpXchgInst::getStrongestFailureOrdering(order);
  const unsigned bits = ir::facts(context_.type(op.operands[0]).element).bits;
  llvm::Type *integer = builder_.getIntNTy(bits);
  llvm::Value *desired_bits = builder_.CreateBitCast(desired, integer);
  llvm::Value *pair =
      builder_.CreateAtomicCmpXchg(pointer, builder_.CreateBitCast(expected, integer), desired_bits,
                                   llvm::Align(bits / 8), order, failure, scope_of(op));
  return builder_.CreateBitCast(builder_.CreateExtractValue(pair, 0), expected->getType());
}

/// One element's atomic; gives the old value.
llvm::Value *AtomicEmitter::atomic_of(const ir::Op &op, llvm::Value *pointer, llvm::Value *value,
                                      llvm::Value *desired) {
  if (desired)
    return compare_exchange(op, pointer, value, desired);
  const ir::Element element = context_.type(op.operands[0]).element;
  llvm::AtomicRMWInst *atomic = builder_.CreateAtomicRMW(operation_of(op.opcode, element), pointer, value,
                                                         llvm::Align(ir::byte_size(element)),
                                                         ordering_of(op.string("order")), scope_of(op));
  llvm::MDNode *empty = llvm::MDNode::get(builder_.getContext(), {});
  atomic->setMetadata("amdgpu.no.fine.grained.memory", empty);
  atomic->setMetadata("amdgpu.no.remote.memory", empty);
  if (element == ir::Element::F32)
    atomic->setMetadata("amdgpu.ignore.denormal.mode", empty);
  return atomic;
}

/// The program's order towards other programs is that of all its waves: what they did before is released, and
/// what was acquired is seen by all of them.
void AtomicEmitter::fence(const ir::Op &op, Side side) {
  const llvm::AtomicOrdering order = ordering_of(op.string("order"));
  const llvm::AtomicOrdering fence =
      side == Side::Before ? llvm::AtomicOrdering::Release : llvm::AtomicOrdering::Acquire;
  if (order != fence && order != llvm::AtomicOrdering::AcquireRelease)
    return;
  if (side == Side::After)
    order_.barrier();
  builder_.CreateFence(fence, scope_of(op));
  if (side == Side::Before)
    order_.barrier();
}

/// The old values go from their owners through LDS to all threads that hold the result.
Registers AtomicEmitter::share_old_values(const Registers &old, const LinearLayout &layout,
                                          llvm::Value *owner) {
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
  guarded(context_, owner, {}, [&] {
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

void AtomicEmitter::emit(const ir::Op &op) {
  order_.before(op);
  const bool exchanges = op.opcode == ir::Opcode::AtomicCompareExchange;
  const std::optional<ir::ValueId> mask = operand_at(op, exchanges ? 3 : 2);
  const LinearLayout &layout = context_.plan.layouts.writes.at(&op);
  const Registers pointers = addresses_.pointers(op.operands[0], layout);
  Registers values = values_.get(op.operands[1], layout);
  const Registers desired = exchanges ? values_.get(op.operands[2], layout) : Registers(values.size());
  const Registers masks = mask ? values_.get(*mask, layout) : Registers();
  fence(op, Side::Before);
  llvm::Value *owner = owner_condition(context_, layout);
  if (context_.plan.index.comes_from_dot(op.operands[1]) && (owner || mask))
    for (llvm::Value *&value : values)
      value = from_bits(builder_, anchored(builder_, to_bits(builder_, value)), value->getType());
  Registers old;
  for (size_t r = 0; r < pointers.size(); ++r) {
    llvm::Value *condition = owner && mask ? builder_.CreateAnd(owner, masks[r]) : mask ? masks[r] : owner;
    Registers merged = guarded(context_, condition, {llvm::Constant::getNullValue(values[r]->getType())},
                               [&] { return Registers{atomic_of(op, pointers[r], values[r], desired[r])}; });
    old.push_back(merged[0]);
  }
  fence(op, Side::After);
  if (context_.plan.index.uses(op.result()) == 0)
    values_.define(op.result(), layout, old);
  else
    values_.define_result(op.result(), layout, share_old_values(old, layout, owner));
}

} // namespace nereid::codegen
