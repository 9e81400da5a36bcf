// Stores. The owner of each element stores it; others, and masked threads, store out of range, or not at all.
#include <map>

#include "codegen/lower/branches.h"
#include "codegen/lower/device_access.h"
#include "codegen/lower/memory.h"
#include "codegen/lower/thread_position.h"

namespace nereid::codegen {

void MemoryEmitter::store(const ir::Op &op) {
  order_.before(op);
  const MemoryAccesses accesses = accesses_of(context_.plan, op);
  const Registers values = values_.get(op.operands[1], accesses.layout);
  const auto accessed = buffers(op, accesses);
  if (!accessed)
    return store_in_branches(op, accesses, values, masks_of(op, accesses));
  for (uint32_t group = 0; group < accesses.count(); ++group) {
    llvm::Value *vector = packed_vector(accesses, values, group);
    buffer_store(builder_, (*accessed)[group], narrowed(accesses, vector), cache_policy(context_.plan, op));
  }
}

/// Masks by which only the owner of an element stores it.
Registers MemoryEmitter::masks_of_owners(const MemoryAccesses &accesses, Registers masks) {
  llvm::Value *owner = owner_condition(context_, accesses.layout);
  if (!owner)
    return masks;
  masks.resize(accesses.count(), builder_.getTrue());
  std::map<llvm::Value *, llvm::Value *> both;
  for (llvm::Value *&condition : masks) {
    llvm::Value *&result = both[condition];
    if (!result)
      result = builder_.CreateAnd(owner, condition);
    condition = result;
  }
  return masks;
}

void MemoryEmitter::store_in_branches(const ir::Op &op, const MemoryAccesses &accesses,
                                      const Registers &values, const Registers &masks) {
  const bool anchors = context_.plan.index.comes_from_dot(op.operands[1]) && !masks.empty();
  const Registers pointers = addresses_.pointers(op.operands[0], accesses.groups.leaders);
  for (uint32_t group = 0; group < accesses.count();) {
    uint32_t end = group + 1;
    while (end < accesses.count() && (masks.empty() || masks[end] == masks[group]))
      ++end;
    Registers vectors;
    for (uint32_t g = group; g < end; ++g) {
      llvm::Value *vector = packed_vector(accesses, values, g);
      vectors.push_back(narrowed(accesses, anchors ? anchored(builder_, vector) : vector));
    }
    guarded(context_, masks.empty() ? nullptr : masks[group], {}, [&] {
      for (uint32_t g = group; g < end; ++g)
        if (has_device_scope(context_.plan, op))
          device_store(builder_, vectors[g - group], pointers[g], accesses.align);
        else
          builder_.CreateAlignedStore(vectors[g - group], pointers[g], accesses.align);
      return Registers();
    });
    group = end;
  }
}

/// The elements of an access in whole dwords.
llvm::Value *MemoryEmitter::packed_vector(const MemoryAccesses &accesses, const Registers &values,
                                          uint32_t group) {
  Registers elements;
  for (unsigned n = 0; n < accesses.elements; ++n) {
    llvm::Value *value = values[accesses.groups.member(group, n)];
    const bool is_bool = value->getType()->isIntegerTy(1);
    elements.push_back(is_bool ? builder_.CreateZExt(value, builder_.getInt8Ty()) : value);
  }
  return dwords_to_vector(builder_, packing_.pack(elements, 8 * accesses.bytes / accesses.elements));
}

/// A dword, cut to what the access moves of it.
llvm::Value *MemoryEmitter::narrowed(const MemoryAccesses &accesses, llvm::Value *vector) {
  return accesses.bytes < 4 ? builder_.CreateTrunc(vector, builder_.getIntNTy(8 * accesses.bytes)) : vector;
}

} // namespace nereid::codegen
