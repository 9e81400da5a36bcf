#pragma once

#include <optional>

#include "codegen/lower/address.h"

/// Accesses through buffer descriptors, whose range check is the mask.
namespace nereid::codegen {

/// One access, in bytes: descriptor, the threads' offset (masked threads: out of range), the scalar offset.
struct BufferAccess {
  llvm::Value *descriptor, *offset, *scalar_offset;
};

/// What of memory is accessed.
struct BufferExtent {
  llvm::Value *in_bounds = nullptr; ///< where it is false, nothing; null: true
  llvm::Value *end = nullptr;       ///< as end_of_mask; null: all
};

/// By address; one mask for each, or none. Nothing if the offsets of the threads are not known to fit 31
/// bits.
std::optional<std::vector<BufferAccess>> buffer_accesses(llvm::IRBuilder<> &builder,
                                                         const std::vector<Address> &addresses,
                                                         const Registers &masks, const BufferExtent &extent);

/// `policy`: bits of codegen/target/gfx950.h.
llvm::Value *buffer_load(llvm::IRBuilder<> &builder, const BufferAccess &access, llvm::Type *type,
                         unsigned policy);
void buffer_store(llvm::IRBuilder<> &builder, const BufferAccess &access, llvm::Value *vector,
                  unsigned policy);

} // namespace nereid::codegen
