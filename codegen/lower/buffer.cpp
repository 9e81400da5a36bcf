// Addresses as what a buffer instruction takes: descriptor, offset of the thread, scalar offset, immediate.
#include "codegen/lower/buffer.h"

#include <algorithm>
#include <map>

#include <llvm/IR/IntrinsicsAMDGPU.h>

namespace nereid::codegen {

namespace {

/// Offsets of masked threads; larger than any that is in range.
constexpr uint32_t out_of_range = 0x80000000;
/// A buffer instruction's own offset.
constexpr int64_t immediate_limit = 4096;
/// Raw buffers of 32-bit data (AMD CDNA4 ISA guide, 9.1.8).
constexpr uint32_t descriptor_flags = 0x00027000;

/// Makes the parts of accesses; those that several accesses have in common are made once.
class AccessParts {
public:
  AccessParts(llvm::IRBuilder<> &builder, const BufferExtent &extent) : builder_(builder), extent_(extent) {}

  BufferAccess access(const Address &address, llvm::Value *mask) {
    Address small = with_small_offsets(address);
    const int64_t immediate = small.offset.constant % immediate_limit;
    llvm::Value *descriptor = descriptor_of(small.base);
    llvm::Value *offset = small.offset.varying ? small.offset.varying : builder_.getInt32(0);
    int64_t scalar = small.offset.constant - immediate;
    if (extent_.end && scalar != 0) {
      offset = builder_.CreateAdd(offset, builder_.getInt32(scalar), "", true);
      scalar = 0;
    }
    if (mask)
      offset = masked(offset, mask);
    if (immediate != 0)
      offset = builder_.CreateAdd(offset, builder_.getInt32(immediate), "", true);
    llvm::Value *scalar_offset = builder_.getInt32(scalar);
    if (small.offset.uniform)
      scalar_offset = builder_.CreateAdd(narrowed(small.offset.uniform), scalar_offset);
    return {descriptor, offset, scalar_offset};
  }

private:
  using Pair = std::pair<llvm::Value *, llvm::Value *>;

  /// base + uniform + varying + constant: small uniform parts that are not negative become the scalar offset,
  /// others go to the base. In range, all offsets together stay below 2^31, so that it does not matter
  /// whether the range check counts the scalar offset. Where the memory ends there is no scalar offset.
  Address with_small_offsets(Address address) {
    constexpr auto max = static_cast<int64_t>(out_of_range - 2 * immediate_limit);
    Offset &offset = address.offset;
    const auto varying = static_cast<int64_t>(offset.limit);
    if (offset.constant != 0 && (offset.constant < 0 || offset.constant + varying > max)) {
      address.base =
          builder_.CreateGEP(builder_.getInt8Ty(), address.base, builder_.getInt64(offset.constant));
      offset.constant = 0;
    }
    if (offset.uniform && (extent_.end || !offset.range.within({0, max - varying - offset.constant}))) {
      llvm::Value *&moved = bases_[{address.base, offset.uniform}];
      if (!moved)
        moved = builder_.CreateGEP(builder_.getInt8Ty(), address.base, offset.uniform);
      address.base = moved;
      offset.uniform = nullptr;
    }
    return address;
  }

  llvm::Value *descriptor_of(llvm::Value *base) {
    llvm::Value *&descriptor = descriptors_[base];
    if (descriptor)
      return descriptor;
    constexpr unsigned descriptor_address_space = 8;
    llvm::Value *records = extent_.end ? extent_.end : builder_.getInt64(out_of_range);
    if (extent_.in_bounds)
      records = builder_.CreateSelect(extent_.in_bounds, records, builder_.getInt64(0));
    auto *type = llvm::PointerType::get(builder_.getContext(), descriptor_address_space);
    descriptor =
        builder_.CreateIntrinsic(llvm::Intrinsic::amdgcn_make_buffer_rsrc, {type, base->getType()},
                                 {base, builder_.getInt16(0), records, builder_.getInt32(descriptor_flags)});
    return descriptor;
  }

  llvm::Value *masked(llvm::Value *offset, llvm::Value *mask) {
    llvm::Value *&result = masked_[{offset, mask}];
    if (!result)
      result = builder_.CreateSelect(mask, offset, builder_.getInt32(out_of_range));
    return result;
  }

  llvm::Value *narrowed(llvm::Value *uniform) {
    llvm::Value *&result = narrowed_[uniform];
    if (!result)
      result = builder_.CreateTrunc(uniform, builder_.getInt32Ty());
    return result;
  }

  llvm::IRBuilder<> &builder_;
  BufferExtent extent_;
  std::map<llvm::Value *, llvm::Value *> descriptors_, narrowed_;
  std::map<Pair, llvm::Value *> bases_, masked_;
};

} // namespace

std::optional<std::vector<BufferAccess>> buffer_accesses(llvm::IRBuilder<> &builder,
                                                         const std::vector<Address> &addresses,
                                                         const Registers &masks, const BufferExtent &extent) {
  const bool fits = std::all_of(addresses.begin(), addresses.end(), [](const Address &address) {
    return address.uniform_base && (!address.offset.varying || address.offset.limit != 0);
  });
  if (!fits)
    return std::nullopt;
  AccessParts parts(builder, extent);
  std::vector<BufferAccess> result;
  for (size_t r = 0; r < addresses.size(); ++r)
    result.push_back(parts.access(addresses[r], masks.empty() ? nullptr : masks[r]));
  return result;
}

llvm::Value *buffer_load(llvm::IRBuilder<> &builder, const BufferAccess &access, llvm::Type *type,
                         unsigned policy) {
  return builder.CreateIntrinsic(
      llvm::Intrinsic::amdgcn_raw_ptr_buffer_load, {type},
      {access.descriptor, access.offset, access.scalar_offset, builder.getInt32(policy)});
}

void buffer_store(llvm::IRBuilder<> &builder, const BufferAccess &access, llvm::Value *vector,
                  unsigned policy) {
  builder.CreateIntrinsic(
      llvm::Intrinsic::amdgcn_raw_ptr_buffer_store, {vector->getType()},
      {vector, access.descriptor, access.offset, access.scalar_offset, builder.getInt32(policy)});
}

} // namespace nereid::codegen
