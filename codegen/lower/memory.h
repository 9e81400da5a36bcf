#pragma once

#include <functional>

#include "codegen/lower/address.h"
#include "codegen/lower/buffer.h"
#include "codegen/lower/memory_access.h"

namespace nereid::codegen {

/// Of loads that are issued for a later iteration of their loop.
struct Prefetch {
  const PrefetchPlan *plan = nullptr;
  llvm::Value *in_bounds = nullptr; ///< whether there is such an iteration; null: there is
};

/// Loads and stores: masks are the range check of a buffer descriptor, or branches.
class MemoryEmitter {
public:
  MemoryEmitter(EmitContext &context, Packing &packing, MemoryOrder &order, ValueMap &values,
                AddressEmitter &addresses)
      : context_(context), builder_(context.builder), packing_(packing), order_(order), values_(values),
        addresses_(addresses) {}

  void load(const ir::Op &op);
  void store(const ir::Op &op);

  /// Starts an access of a load where the builder stands: what it moves.
  using StartAccess = std::function<llvm::Value *()>;
  /// The accesses of a load without a branch, masked threads get zeros; their addresses are there. Nothing if
  /// that takes branches.
  std::optional<std::vector<StartAccess>> prepare_load(const ir::Op &op, const Prefetch &prefetch = {});
  /// Starts them all: what each moves.
  std::optional<Registers> issue_load(const ir::Op &op, const Prefetch &prefetch = {});
  /// Masked threads get what they are to have.
  void finish_load(const ir::Op &op, Registers vectors);

private:
  std::optional<std::vector<BufferAccess>> buffers(const ir::Op &op, const MemoryAccesses &accesses,
                                                   const Prefetch &prefetch = {});
  Registers masks_of(const ir::Op &op, const MemoryAccesses &accesses, bool by_extent = false);
  Registers masks_of_owners(const MemoryAccesses &accesses, Registers masks);
  Registers load_in_branches(const ir::Op &op);
  llvm::Value *load_vector(const ir::Op &op, const MemoryAccesses &accesses, llvm::Value *pointer);
  void define_loaded(const ir::Op &op, const Registers &vectors);
  Registers values_of_masked(const ir::Op &op, const MemoryAccesses &accesses);
  void store_in_branches(const ir::Op &op, const MemoryAccesses &accesses, const Registers &values,
                         const Registers &masks);
  llvm::Value *packed_vector(const MemoryAccesses &accesses, const Registers &values, uint32_t group);
  llvm::Value *narrowed(const MemoryAccesses &accesses, llvm::Value *vector);

  EmitContext &context_;
  llvm::IRBuilder<> &builder_;
  Packing &packing_;
  MemoryOrder &order_;
  ValueMap &values_;
  AddressEmitter &addresses_;
};

} // namespace nereid::codegen
