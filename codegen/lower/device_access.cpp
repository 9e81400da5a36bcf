// Global accesses at device scope as relaxed atomics.
#include "codegen/lower/device_access.h"

#include <algorithm>

namespace nereid::codegen {
namespace {

/// What an access is made of: `count` atomics of `bytes` each, naturally aligned.
struct Pieces {
  Pieces(llvm::Type *type, llvm::Align align) {
    const uint64_t total = type->getPrimitiveSizeInBits().getFixedValue() / 8;
    bytes = std::min<uint64_t>({total & -total, align.value(), 8});
    count = static_cast<unsigned>(total / bytes);
  }

  llvm::Type *piece(llvm::IRBuilder<> &builder) const {
    return builder.getIntNTy(static_cast<unsigned>(8 * bytes));
  }
  llvm::Value *address(llvm::IRBuilder<> &builder, llvm::Value *pointer, unsigned i) const {
    return builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), pointer, i * bytes);
  }
  template <class Access> void make_atomic(llvm::IRBuilder<> &builder, Access *access) const {
    access->setAtomic(llvm::AtomicOrdering::Monotonic, builder.getContext().getOrInsertSyncScopeID("agent"));
  }

  uint64_t bytes;
  unsigned count;
};

} // namespace

llvm::Value *device_load(llvm::IRBuilder<> &builder, llvm::Type *type, llvm::Value *pointer,
                         llvm::Align align) {
  const Pieces pieces(type, align);
  llvm::Type *piece = pieces.piece(builder);
  llvm::Value *all = llvm::PoisonValue::get(llvm::FixedVectorType::get(piece, pieces.count));
  for (unsigned i = 0; i < pieces.count; ++i) {
    llvm::LoadInst *load =
        builder.CreateAlignedLoad(piece, pieces.address(builder, pointer, i), llvm::Align(pieces.bytes));
    pieces.make_atomic(builder, load);
    all = builder.CreateInsertElement(all, load, uint64_t{i});
  }
  return builder.CreateBitCast(all, type);
}

void device_store(llvm::IRBuilder<> &builder, llvm::Value *vector, llvm::Value *pointer, llvm::Align align) {
  const Pieces pieces(vector->getType(), align);
  llvm::Type *type = llvm::FixedVectorType::get(pieces.piece(builder), pieces.count);
  llvm::Value *all = builder.CreateBitCast(vector, type);
  for (unsigned i = 0; i < pieces.count; ++i)
    pieces.make_atomic(builder, builder.CreateAlignedStore(builder.CreateExtractElement(all, uint64_t{i}),
                                                           pieces.address(builder, pointer, i),
                                                           llvm::Align(pieces.bytes)));
}

} // namespace nereid::codegen
