#pragma once

#include <string>
#include <vector>

#include "codegen/lower/emit_context.h"

namespace nereid::codegen {

/// The LDS of the kernel: a scratch array that all exchanges share from its start, barriers standing between
/// them, and arrays of their own for what outlives an exchange.
class LdsMemory {
public:
  explicit LdsMemory(EmitContext &context) : context_(context) {}

  llvm::Value *scratch(unsigned bytes);
  bool has_scratch() const { return scratch_ != nullptr; }
  /// `suffix` tells it apart in the module: the kernel's name goes before it.
  llvm::GlobalVariable *array(unsigned bytes, const std::string &suffix);
  /// Of loops that follow each other and share their buffers: those of load number `number`, one behind the
  /// other, and for each what aliases nothing but what is in it.
  struct SharedBuffers {
    unsigned number, bytes; ///< of one
    llvm::GlobalVariable *array;
    std::vector<llvm::MDNode *> scopes;
  };
  SharedBuffers shared_buffers(unsigned number, unsigned bytes, unsigned buffers);
  /// When all code is there: gives the scratch array its size. Fails with the user's error where the kernel
  /// needs more than a workgroup can have.
  void finish();

private:
  EmitContext &context_;
  llvm::GlobalVariable *scratch_ = nullptr;
  unsigned scratch_bytes_ = 0;
  unsigned array_bytes_ = 0;
  std::vector<SharedBuffers> shared_buffers_;
  llvm::MDNode *domain_ = nullptr; ///< of their scopes
};

} // namespace nereid::codegen
