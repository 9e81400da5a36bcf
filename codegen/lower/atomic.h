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
  enum class Side { Before, After };

  llvm::Value *atomic_of(const ir::Op &op, llvm::Value *pointer, llvm::Value *value, llvm::Value *desired);
  llvm::Value *compare_exchange(const ir::Op &op, llvm::Value *pointer, llvm::Value *expected,
                                llvm::Value *desired);
  void fence(const ir::Op &op, Side side);
  Registers share_old_values(const Registers &old, const LinearLayout &layout, llvm::Value *owner);
  llvm::SyncScope::ID scope_of(const ir::Op &op) const;

  EmitContext &context_;
  llvm::IRBuilder<> &builder_;
  LdsMemory &lds_;
  MemoryOrder &order_;
  ValueMap &values_;
  AddressEmitter &addresses_;
};

} // namespace nereid::codegen
