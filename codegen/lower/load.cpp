// Loads.
#include <algorithm>

#include "codegen/lower/branches.h"
#include "codegen/lower/device_access.h"
#include "codegen/lower/end_mask.h"
#include "codegen/lower/llvm_types.h"
#include "codegen/lower/memory.h"

namespace nereid::codegen {

void MemoryEmitter::load(const ir::Op &op) {
  order_.before(op);
  if (std::optional<Registers> vectors = issue_load(op))
    finish_load(op, std::move(*vectors));
  else
    define_loaded(op, load_in_branches(op));
}

std::optional<Registers> MemoryEmitter::issue_load(const ir::Op &op, const Prefetch &prefetch) {
  const std::optional<std::vector<StartAccess>> accesses = prepare_load(op, prefetch);
  if (!accesses)
    return std::nullopt;
  Registers vectors;
  for (const StartAccess &start : *accesses)
    vectors.push_back(start());
  return vectors;
}

std::optional<std::vector<MemoryEmitter::StartAccess>> MemoryEmitter::prepare_load(const ir::Op &op,
                                                                                   const Prefetch &prefetch) {
  const ir::ValueId pointer = op.operands[0];
  const std::optional<ir::ValueId> mask = mask_of(op);
  const MemoryAccesses accesses = accesses_of(context_.plan, op);
  const LinearLayout &leaders = accesses.groups.leaders;
  std::vector<StartAccess> result;
  if (const auto accessed = buffers(op, accesses, prefetch)) {
    llvm::Type *type = access_type(builder_, accesses.bytes);
    const unsigned policy = cache_policy(context_.plan, op);
    for (const BufferAccess &buffer : *accessed)
      result.emplace_back([=, this] { return buffer_load(builder_, buffer, type, policy); });
    return result;
  }
  if (mask)
    return std::nullopt;
  for (llvm::Value *address : addresses_.pointers(pointer, leaders, prefetch.plan))
    result.emplace_back([=, this, &op] { return load_vector(op, accesses, address); });
  return result;
}

/// Accesses through descriptors; nothing where they take pointers or branches.
std::optional<std::vector<BufferAccess>>
MemoryEmitter::buffers(const ir::Op &op, const MemoryAccesses &accesses, const Prefetch &prefetch) {
  if (!accesses.fits_buffers())
    return std::nullopt;
  const ir::ValueId pointer = op.operands[0];
  const LinearLayout &leaders = accesses.groups.leaders;
  const std::vector<Address> addresses = addresses_.addresses(pointer, leaders, prefetch.plan);
  const std::optional<ir::ValueId> mask = mask_of(op);
  BufferExtent extent{prefetch.in_bounds};
  if (mask && !prefetch.plan)
    extent.end = end_of_mask(context_, values_, addresses_, *mask, leaders, addresses,
                             ir::byte_size(context_.type(pointer).element));
  const Registers masks = masks_of(op, accesses, extent.end != nullptr);
  auto bounded = buffer_accesses(builder_, addresses, masks, extent);
  if (bounded || (masks.empty() && !extent.end))
    return bounded;
  const std::optional<std::vector<Address>> small = addresses_.in_small_buffer(pointer, addresses);
  return small ? buffer_accesses(builder_, *small, masks_of(op, accesses), {prefetch.in_bounds})
               : std::nullopt;
}

/// Of each access; none where every thread accesses all that it holds. `by_extent`: a descriptor's end is the
/// operation's mask.
Registers MemoryEmitter::masks_of(const ir::Op &op, const MemoryAccesses &accesses, bool by_extent) {
  const std::optional<ir::ValueId> mask = by_extent ? std::nullopt : mask_of(op);
  Registers masks = mask ? values_.get(*mask, accesses.groups.leaders) : Registers();
  return op.opcode == ir::Opcode::Store ? masks_of_owners(accesses, std::move(masks)) : masks;
}

void MemoryEmitter::finish_load(const ir::Op &op, Registers vectors) {
  if (operand_at(op, 2)) {
    const MemoryAccesses accesses = accesses_of(context_.plan, op);
    const Registers masks = values_.get(*mask_of(op), accesses.groups.leaders);
    const Registers others = values_of_masked(op, accesses);
    for (size_t group = 0; group < vectors.size(); ++group)
      if (others[group])
        vectors[group] = builder_.CreateSelect(masks[group], vectors[group], others[group]);
  }
  define_loaded(op, vectors);
}

/// Accesses under one mask share a branch.
Registers MemoryEmitter::load_in_branches(const ir::Op &op) {
  const MemoryAccesses accesses = accesses_of(context_.plan, op);
  const Registers pointers = addresses_.pointers(op.operands[0], accesses.groups.leaders);
  const Registers masks = values_.get(*mask_of(op), accesses.groups.leaders);
  Registers otherwise = values_of_masked(op, accesses);
  for (llvm::Value *&vector : otherwise)
    if (!vector)
      vector = llvm::Constant::getNullValue(access_type(builder_, accesses.bytes));
  Registers vectors;
  for (size_t group = 0; group < masks.size();) {
    size_t end = group + 1;
    while (end < masks.size() && masks[end] == masks[group])
      ++end;
    Registers loaded =
        guarded(context_, masks[group], Registers(otherwise.begin() + group, otherwise.begin() + end), [&] {
          Registers active;
          for (size_t g = group; g < end; ++g)
            active.push_back(load_vector(op, accesses, pointers[g]));
          return active;
        });
    vectors.insert(vectors.end(), loaded.begin(), loaded.end());
    group = end;
  }
  return vectors;
}

llvm::Value *MemoryEmitter::load_vector(const ir::Op &op, const MemoryAccesses &accesses,
                                        llvm::Value *pointer) {
  if (has_device_scope(context_.plan, op))
    return device_load(builder_, access_type(builder_, accesses.bytes), pointer, accesses.align);
  llvm::LoadInst *load =
      builder_.CreateAlignedLoad(access_type(builder_, accesses.bytes), pointer, accesses.align);
  if (is_streamed(op))
    load->setMetadata(
        llvm::LLVMContext::MD_nontemporal,
        llvm::MDNode::get(builder_.getContext(), llvm::ConstantAsMetadata::get(builder_.getInt32(1))));
  return load;
}

/// What a masked access gives, by access; null where that is zero.
Registers MemoryEmitter::values_of_masked(const ir::Op &op, const MemoryAccesses &accesses) {
  const std::optional<ir::ValueId> other = operand_at(op, 2);
  if (!other)
    return Registers(accesses.count());
  const Registers others = values_.get(*other, accesses.layout);
  const auto is_zero = [&](uint32_t group) {
    for (unsigned n = 0; n < accesses.elements; ++n) {
      auto *constant = llvm::dyn_cast<llvm::Constant>(others[accesses.groups.member(group, n)]);
      if (!constant || !constant->isNullValue())
        return false;
    }
    return true;
  };
  Registers result;
  for (uint32_t group = 0; group < accesses.count(); ++group)
    result.push_back(is_zero(group) ? nullptr : narrowed(accesses, packed_vector(accesses, others, group)));
  return result;
}

void MemoryEmitter::define_loaded(const ir::Op &op, const Registers &vectors) {
  const ir::Element element = context_.type(op.result()).element;
  const bool is_bool = element == ir::Element::I1;
  const MemoryAccesses accesses = accesses_of(context_.plan, op);
  llvm::Type *type = is_bool ? builder_.getInt8Ty() : llvm_type(builder_.getContext(), element);
  Registers registers(accesses.layout.registers());
  for (uint32_t group = 0; group < vectors.size(); ++group) {
    Registers elements = packing_.unpack(vectors[group], type, accesses.elements);
    for (unsigned n = 0; n < accesses.elements; ++n)
      registers[accesses.groups.member(group, n)] =
          is_bool ? builder_.CreateICmpNE(elements[n], builder_.getInt8(0)) : elements[n];
  }
  values_.define(op.result(), accesses.layout, registers);
}

} // namespace nereid::codegen
