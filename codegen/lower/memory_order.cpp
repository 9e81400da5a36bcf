// Barriers between accesses of different waves to the same memory.
#include "codegen/lower/memory_order.h"

#include <algorithm>

#include <llvm/IR/IntrinsicsAMDGPU.h>

#include "codegen/lower/value_layout.h"

namespace nereid::codegen {

void MemoryOrder::wait() {
  constexpr unsigned vector_memory_only = 0xf70; // lgkmcnt and expcnt: no wait
  llvm::IRBuilder<> &builder = context_.builder;
  builder.CreateFence(llvm::AtomicOrdering::Release,
                      builder.getContext().getOrInsertSyncScopeID("workgroup"));
  builder.CreateIntrinsic(llvm::Intrinsic::amdgcn_s_waitcnt, {}, {builder.getInt32(vector_memory_only)});
}

void MemoryOrder::barrier() {
  if (const ir::Op *loop = context_.wave_split_loop())
    context_.fail(*loop, "a loop that is split over the waves needs other waves in an iteration",
                  "use wave_split=n, and please report the kernel");
  llvm::IRBuilder<> &builder = context_.builder;
  llvm::SyncScope::ID workgroup = builder.getContext().getOrInsertSyncScopeID("workgroup");
  builder.CreateFence(llvm::AtomicOrdering::Release, workgroup);
  builder.CreateIntrinsic(llvm::Intrinsic::amdgcn_s_barrier, {});
  builder.CreateFence(llvm::AtomicOrdering::Acquire, workgroup);
  accesses_.clear();
}

/// Where another thread may have touched the same memory since the last barrier, and one of the two accesses
/// writes, all waves meet first. The same pointers in the same layout are each thread's own, unless the
/// layout is replicated over waves.
void MemoryOrder::before(const ir::Op &access) {
  const bool writes = ir::facts(access.opcode).effect == ir::OpEffect::Effect;
  const ir::ValueId pointer = access.operands[0];
  LinearLayout layout =
      writes ? context_.plan.layouts.writes.at(&access) : assigned_layout(context_.plan, access.result());
  std::optional<ir::ValueId> argument = argument_of(context_.plan.index, pointer);
  const bool replicated = layout.free_mask(Space::Wave) != 0;
  bool conflict = std::any_of(accesses_.begin(), accesses_.end(), [&](const Access &other) {
    bool same_memory = !argument || !other.argument || *argument == *other.argument;
    bool own = !replicated && other.pointer == pointer && other.layout == layout;
    return (writes || other.writes) && same_memory && !own;
  });
  if (conflict)
    barrier();
  add({argument, pointer, writes, std::move(layout)});
}

void MemoryOrder::expect(const ir::Block &body) {
  constexpr ir::ValueId no_pointer = ~ir::ValueId(0);
  for (const ir::Op &op : body.ops) {
    for (const ir::Block &inner : op.blocks)
      expect(inner);
    if (ir::facts(op.opcode).op_class == ir::OpClass::Memory)
      add({argument_of(context_.plan.index, op.operands[0]), no_pointer,
           ir::facts(op.opcode).effect == ir::OpEffect::Effect, LinearLayout()});
  }
}

void MemoryOrder::add(const Accesses &accesses) {
  for (const Access &access : accesses)
    add(access);
}

/// Once: paths that meet have what stands before them in common.
void MemoryOrder::add(Access access) {
  if (std::find(accesses_.begin(), accesses_.end(), access) == accesses_.end())
    accesses_.push_back(std::move(access));
}

} // namespace nereid::codegen
