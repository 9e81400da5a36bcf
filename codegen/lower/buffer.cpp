#include <map>

#include <llvm/IR/IntrinsicsAMDGPU.h>

#include "codegen/lower/lowering.h"

namespace nereid::codegen {

namespace {

/// Offsets of masked threads; larger than any that is in range.
constexpr uint32_t out_of_range = 0x80000000;
/// A buffer instruction's own offset.
constexpr int64_t immediate_limit = 4096;
/// Raw buffers of 32-bit data (AMD CDNA4 ISA guide, 9.1.8).
constexpr uint32_t descriptor_flags = 0x00027000;
constexpr unsigned nontemporal = 2;

} // namespace

/// base + uniform + varying + constant: small uniform parts that are not negative become the scalar offset,
/// others go to the base. In range, all offsets together stay below 2^31, so that it does not matter whether
/// the range check counts the scalar offset.
std::optional<std::vector<Lowering::BufferAccess>>
Lowering::buffer_accesses(ir::ValueId pointer, const LinearLayout &layout, const Registers &masks) {
  constexpr auto most = static_cast<int64_t>(out_of_range - 2 * immediate_limit);
  std::vector<Address> parts = parts_of_pointer(pointer, layout);
  for (const Address &address : parts)
    if (!address.uniform_base || (address.offset.varying && address.offset.limit == 0))
      return std::nullopt;
  llvm::Type *i32 = builder_.getInt32Ty();
  std::map<llvm::Value *, llvm::Value *> resources;
  std::map<std::pair<llvm::Value *, llvm::Value *>, llvm::Value *> masked_offsets, bases;
  std::map<llvm::Value *, llvm::Value *> narrowed;
  std::vector<BufferAccess> result;
  for (size_t r = 0; r < parts.size(); ++r) {
    llvm::Value *base = parts[r].base, *uniform = parts[r].offset.uniform;
    Interval range = parts[r].offset.range;
    int64_t constant = parts[r].offset.constant;
    const auto varying = static_cast<int64_t>(parts[r].offset.limit);
    if (constant < 0 || constant + varying > most) {
      base = builder_.CreateGEP(builder_.getInt8Ty(), base, builder_.getInt64(constant));
      constant = 0;
    }
    if (uniform && !range.within({0, most - varying - constant})) {
      llvm::Value *&moved = bases[{base, uniform}];
      if (!moved)
        moved = builder_.CreateGEP(builder_.getInt8Ty(), base, uniform);
      base = moved;
      uniform = nullptr;
    }
    llvm::Value *&resource = resources[base];
    if (!resource) {
      llvm::Value *records = builder_.getInt64(out_of_range);
      if (iteration_exists_)
        records = builder_.CreateSelect(iteration_exists_, records, builder_.getInt64(0));
      auto *type = llvm::PointerType::get(builder_.getContext(), 8);
      resource = builder_.CreateIntrinsic(
          llvm::Intrinsic::amdgcn_make_buffer_rsrc, {type, base->getType()},
          {base, builder_.getInt16(0), records, builder_.getInt32(descriptor_flags)});
    }
    llvm::Value *offset = parts[r].offset.varying ? parts[r].offset.varying : builder_.getInt32(0);
    if (!masks.empty()) {
      llvm::Value *&masked = masked_offsets[{offset, masks[r]}];
      if (!masked)
        masked = builder_.CreateSelect(masks[r], offset, builder_.getInt32(out_of_range));
      offset = masked;
    }
    const int64_t immediate = constant % immediate_limit;
    if (immediate != 0)
      offset = builder_.CreateAdd(offset, builder_.getInt32(immediate), "", true);
    llvm::Value *scalar_offset = builder_.getInt32(constant - immediate);
    if (uniform) {
      llvm::Value *&narrow = narrowed[uniform];
      if (!narrow)
        narrow = builder_.CreateTrunc(uniform, i32);
      scalar_offset = builder_.CreateAdd(narrow, scalar_offset);
    }
    result.push_back({resource, offset, scalar_offset});
  }
  return result;
}

llvm::Value *Lowering::buffer_load(const ir::Op &op, const BufferAccess &access, llvm::Type *type) {
  const bool stream = op.has("cache") && op.string("cache") == "stream";
  return builder_.CreateIntrinsic(
      llvm::Intrinsic::amdgcn_raw_ptr_buffer_load, {type},
      {access.resource, access.offset, access.scalar_offset, builder_.getInt32(stream ? nontemporal : 0)});
}

void Lowering::buffer_store(const BufferAccess &access, llvm::Value *vector) {
  builder_.CreateIntrinsic(
      llvm::Intrinsic::amdgcn_raw_ptr_buffer_store, {vector->getType()},
      {vector, access.resource, access.offset, access.scalar_offset, builder_.getInt32(0)});
}

} // namespace nereid::codegen
