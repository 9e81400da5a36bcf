#pragma once

#include <string>
#include <vector>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "codegen/lower/debug_lines.h"
#include "codegen/plan/kernel_plan.h"

namespace nereid::codegen {

/// What every part of the emitter works with: the plan, the kernel that grows, and where in it emission
/// stands. The rest of the parts is in lowering.h.
class EmitContext {
public:
  /// Makes the kernel with its entry block, at the end of which the builder stands.
  EmitContext(const KernelPlan &plan, llvm::Module &module);
  EmitContext(const EmitContext &) = delete;
  EmitContext &operator=(const EmitContext &) = delete;

  const ir::Function &function() const { return plan.function(); }
  const ir::Type &type(ir::ValueId value) const { return function().type(value); }
  unsigned waves() const { return static_cast<unsigned>(function().options.waves); }
  llvm::BasicBlock *new_block(const char *name);

  /// The operation whose code is emitted: its line stands beside the instructions to come.
  const ir::Op *current() const { return current_; }
  void set_line(const ir::Op &op);
  /// Of the operation whose code is emitted.
  SourceLine place() const { return current_ ? function().place(*current_) : SourceLine{}; }

  const KernelPlan &plan;
  llvm::Module &module;
  llvm::IRBuilder<> builder;
  llvm::Function &kernel;
  DebugLines lines;
  llvm::Value *lane; ///< 0..63
  llvm::Value *wave; ///< in scalar registers

private:
  const ir::Op *current_ = nullptr;
};

} // namespace nereid::codegen
