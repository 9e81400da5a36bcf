#pragma once

#include <optional>

#include "codegen/lower/address.h"

/// Accesses through buffer descriptors, whose range check is the mask.
namespace nereid::codegen {

/// One access, in bytes: descriptor, the threads' offset (masked threads: out of range), the scalar offset.
struct BufferAccess {
  llvm::Value *descriptor, *offset, *scalar_offset;
};

/// By address; one mask for each, or none. Where `in_bounds` (null: true) is false nothing is accessed.
/// Nothing if the offsets of the threads are not known to fit 31 bits.
std::optional<std::vector<BufferAccess>> buffer_accesses(llvm::IRBuilder<> &builder,
                                                         const std::vector<Address> &addresses,
                                                         const Registers &masks, llvm::Value *in_bounds);

/// `policy`: bits of codegen/target/gfx950.h.
llvm::Value *buffer_load(llvm::IRBuilder<> &builder, const BufferAccess &access, llvm::Type *type,
                         unsigned policy);
void buffer_store(llvm::IRBuilder<> &builder, const BufferAccess &access, llvm::Value *vector,
                  unsigned policy);

} // namespace nereid::codegen
