// Atomics, their fences, and how the old values reach the threads that want them.
#include "codegen/lower/atomic.h"

#include "codegen/assign/memory_layout.h"
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
  case ir::Opcode::AtomicMin:
    return ir::is_float(element) ? I::FMinimum : ir::is_signed(element) ? I::Min : I::UMin;
  case ir::Opcode::AtomicAnd:
    return I::And;
  case ir::Opcode::AtomicOr:
    return I::Or;
  case ir::Opcode::AtomicXor:
    return I::Xor;
  default:
    return I::Xchg;
  }
}

/// Atomics of device scope are ordered by what release and acquire emit around them.
llvm::AtomicOrdering own_ordering_of(const ir::Op &op) {
  return op.string("scope") == "device" ? llvm::AtomicOrdering::Monotonic : ordering_of(op.string("order"));
}

} // namespace

llvm::SyncScope::ID AtomicEmitter::scope_of(const ir::Op &op) const {
  const char *scope = op.string("scope") == "workgroup" ? "workgroup" : "agent";
  return builder_.getContext().getOrInsertSyncScopeID(scope);
}

llvm::Value *AtomicEmitter::compare_exchange(const ir::Op &op, llvm::Value *pointer, llvm::Value *expected,
                                             llvm::Value *desired) {
  const llvm::AtomicOrdering order = own_ordering_of(op);
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
  llvm::AtomicRMWInst *atomic = builder_.CreateAtomicRMW(
      operation_of(op.opcode, element), pointer, value,
      llvm::Align(value->getType()->getPrimitiveSizeInBits() / 8), own_ordering_of(op), scope_of(op));
  llvm::MDNode *empty = llvm::MDNode::get(builder_.getContext(), {});
  atomic->setMetadata("amdgpu.no.fine.grained.memory", empty);
  atomic->setMetadata("amdgpu.no.remote.memory", empty);
  if (element == ir::Element::F32)
    atomic->setMetadata("amdgpu.ignore.denormal.mode", empty);
  return atomic;
}

/// What any wave did before is released.
void AtomicEmitter::release(const ir::Op &op) {
  if (releases_to_device(op) && !context_.plan.device_order.fences)
    order_.wait();
  else
    builder_.CreateFence(llvm::AtomicOrdering::Release, scope_of(op));
  order_.barrier();
}

/// What is acquired is seen by all waves. `meets`: a barrier has followed the end of the atomics.
void AtomicEmitter::acquire(const ir::Op &op, bool meets) {
  if (!meets) {
    order_.wait();
    order_.barrier();
  }
  if (!acquires_from_device(op) || context_.plan.device_order.fences)
    builder_.CreateFence(llvm::AtomicOrdering::Acquire, scope_of(op));
}

/// Where the old values lie in LDS.
Registers AtomicEmitter::shared_addresses(const LinearLayout &layout, llvm::Type *element) {
  const unsigned bytes = static_cast<unsigned>(element->getPrimitiveSizeInBits()) / 8;
  uint32_t blocks = 1;
  for (unsigned d = 0; d < layout.rank(); ++d)
    blocks *= layout.dim(d).odd;
  llvm::Value *base = lds_.scratch((blocks << layout.coordinate_bits()) * bytes);
  llvm::Value *thread = flat_of_thread(context_, layout);
  Registers addresses;
  for (uint32_t r = 0; r < layout.registers(); ++r) {
    // Odd indices number blocks of powers of two.
    const Coordinates at = layout.apply({r, 0, 0});
    uint32_t block = 0;
    for (unsigned d = 0; d < layout.rank(); ++d)
      block = block * layout.dim(d).odd + (at[d] >> layout.dim(d).bits);
    llvm::Value *flat = builder_.CreateXor(thread, builder_.getInt32(flat_of_register(layout, r)));
    flat = builder_.CreateAdd(flat, builder_.getInt32(block << layout.coordinate_bits()));
    addresses.push_back(builder_.CreateGEP(element, base, flat));
  }
  return addresses;
}

/// Where the hardware adds two narrow floats at once: the distance of a pair's registers, 0 for no pairs.
size_t AtomicEmitter::pair_distance(const ir::Op &op, const LinearLayout &layout) const {
  const ir::Element element = context_.type(op.operands[0]).element;
  if (op.opcode != ir::Opcode::AtomicAdd || ir::byte_size(element) != 2)
    return 0;
  const AxisAnalysis &axes = context_.plan.axes;
  const std::optional<ir::ValueId> mask = operand_at(op, 2);
  const VectorAccess access =
      vector_access(layout, axes[op.operands[0]], mask ? &axes[*mask] : nullptr, ir::byte_size(element));
  return access.register_bits.empty() ? 0 : size_t{1} << access.register_bits[0];
}

/// The atomics of what the thread holds, where `owner` (null: everywhere) and the masks hold.
Registers AtomicEmitter::atomics(const ir::Op &op, const Operands &operands, llvm::Value *owner) {
  Registers old(operands.pointers.size());
  const size_t pair = operands.pair_distance;
  for (size_t r = 0; r < old.size(); ++r) {
    if ((r & pair) != 0)
      continue;
    llvm::Value *mask = operands.masks.empty() ? nullptr : operands.masks[r];
    llvm::Value *condition = owner && mask ? builder_.CreateAnd(owner, mask) : mask ? mask : owner;
    llvm::Value *value = operands.values[r];
    if (pair != 0) {
      llvm::Value *both = llvm::PoisonValue::get(llvm::FixedVectorType::get(value->getType(), 2));
      both = builder_.CreateInsertElement(both, value, uint64_t{0});
      value = builder_.CreateInsertElement(both, operands.values[r | pair], uint64_t{1});
    }
    Registers merged = guarded(context_, condition, {llvm::Constant::getNullValue(value->getType())}, [&] {
      return Registers{atomic_of(op, operands.pointers[r], value, operands.desired[r])};
    });
    old[r] = merged[0];
    if (pair != 0) {
      old[r | pair] = builder_.CreateExtractElement(merged[0], uint64_t{1});
      old[r] = builder_.CreateExtractElement(merged[0], uint64_t{0});
    }
  }
  return old;
}

/// Owners leave the old values in LDS, from where all threads that hold the result take them.
Registers AtomicEmitter::shared_atomics(const ir::Op &op, const Operands &operands,
                                        const LinearLayout &layout, llvm::Value *owner) {
  llvm::Type *element = operands.values[0]->getType();
  const llvm::Align align(element->getPrimitiveSizeInBits() / 8);
  const Registers addresses = shared_addresses(layout, element);
  guarded(context_, owner, {}, [&] {
    const Registers old = atomics(op, operands, nullptr);
    for (size_t r = 0; r < old.size(); ++r)
      builder_.CreateAlignedStore(old[r], addresses[r], align);
    return Registers();
  });
  order_.barrier();
  Registers shared;
  for (llvm::Value *address : addresses)
    shared.push_back(builder_.CreateAlignedLoad(element, address, align));
  return shared;
}

void AtomicEmitter::emit(const ir::Op &op) {
  const bool exchanges = op.opcode == ir::Opcode::AtomicCompareExchange;
  const std::optional<ir::ValueId> mask = operand_at(op, exchanges ? 3 : 2);
  const LinearLayout &layout = context_.plan.layouts.writes.at(&op);
  Operands operands;
  operands.pointers = addresses_.pointers(op.operands[0], layout);
  operands.values = values_.get(op.operands[1], layout);
  operands.desired = exchanges ? values_.get(op.operands[2], layout) : Registers(operands.values.size());
  operands.masks = mask ? values_.get(*mask, layout) : Registers();
  operands.pair_distance = pair_distance(op, layout);
  llvm::Value *owner = owner_condition(context_, layout);
  const bool is_scalar = layout.rank() == 0, is_used = context_.plan.index.uses(op.result()) != 0;
  const bool is_shared = owner && is_used && !(is_scalar && context_.waves() == 1);
  const std::string &order = op.string("order");
  if (order == "release" || order == "acq_rel")
    release(op);
  else if (is_shared)
    order_.barrier(); // the scratch array is free
  order_.before(op);
  if (is_scalar)
    operands.pointers[0] = of_one_lane(operands.pointers[0]);
  if (context_.plan.index.comes_from_dot(op.operands[1]) && (owner || mask))
    for (llvm::Value *&value : operands.values)
      value = from_bits(builder_, anchored(builder_, to_bits(builder_, value)), value->getType());
  const Registers old =
      is_shared ? shared_atomics(op, operands, layout, owner) : atomics(op, operands, owner);
  if (order == "acquire" || order == "acq_rel")
    acquire(op, is_shared);
  if (is_used)
    values_.define_result(op.result(), layout, old);
  else
    values_.define(op.result(), layout, old);
}

/// LLVM combines atomics of a wave's lanes at one address, by a dozen instructions; one lane has none to
/// combine.
llvm::Value *AtomicEmitter::of_one_lane(llvm::Value *pointer) {
  llvm::Value *zero = builder_.CreateZExt(anchored(builder_, builder_.getInt32(0)), builder_.getInt64Ty());
  return builder_.CreateGEP(builder_.getInt8Ty(), pointer, zero);
}

} // namespace nereid::codegen
