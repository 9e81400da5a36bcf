#pragma once

#include "codegen/lower/address.h"

namespace nereid::codegen {

/// Atomics: each element's is done by the thread that owns it, the old values go to all that want them.
class AtomicEmitter {
public:
  AtomicEmitter(EmitContext &context, LdsMemory &lds, MemoryOrder &order, ValueMap &values,
                AddressEmitter &addresses)
      : context_(context), builder_(context.builder), lds_(lds), order_(order), values_(values),
        addresses_(addresses) {}

  void emit(const ir::Op &op);

private:
  /// By register; masks may be none.
  struct Operands {
    Registers pointers, values, desired, masks;
    size_t pair_distance = 0;
  };

  llvm::Value *atomic_of(const ir::Op &op, llvm::Value *pointer, llvm::Value *value, llvm::Value *desired);
  llvm::Value *compare_exchange(const ir::Op &op, llvm::Value *pointer, llvm::Value *expected,
                                llvm::Value *desired);
  size_t pair_distance(const ir::Op &op, const LinearLayout &layout) const;
  llvm::Value *of_one_lane(llvm::Value *pointer);
  void release(const ir::Op &op);
  void acquire(const ir::Op &op, bool meets);
  Registers shared_addresses(const LinearLayout &layout, llvm::Type *element);
  Registers atomics(const ir::Op &op, const Operands &operands, llvm::Value *owner);
  Registers shared_atomics(const ir::Op &op, const Operands &operands, const LinearLayout &layout,
                           llvm::Value *owner);
  llvm::SyncScope::ID scope_of(const ir::Op &op) const;

  EmitContext &context_;
  llvm::IRBuilder<> &builder_;
  LdsMemory &lds_;
  MemoryOrder &order_;
  ValueMap &values_;
  AddressEmitter &addresses_;
};

} // namespace nereid::codegen
