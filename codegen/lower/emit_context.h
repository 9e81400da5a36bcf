#pragma once

#include <string>
#include <vector>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "codegen/lower/debug_lines.h"
#include "codegen/plan/kernel_plan.h"

namespace nereid::codegen {

/// Why a kernel cannot be emitted. There are two ways of an error in codegen. At the doors (plan_kernel,
/// plan_conversion, emit) it is a Result: a caller may try something else, or hands it to the user. Inside
/// the emitter it is thrown, because nobody between the operation that does not compile and Lowering::run
/// could go on: as an EmitError, which knows the place, or as a LayoutError by the algebra of layouts, which
/// knows no kernel. Lowering::run turns both into a Result.
class EmitError {
public:
  explicit EmitError(Error error) : error_(std::move(error)) {}
  const Error &error() const { return error_; }

private:
  Error error_;
};

[[noreturn]] inline void fail(Error error) { throw EmitError(std::move(error)); }

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
  SourceLine location() const { return current_ ? function().location(*current_) : SourceLine{}; }
  /// With an error of Nereid's: something does not compile.
  [[noreturn]] void fail(const ir::Op &op, std::string message, std::string remedy = {}) const;

  bool in_loop() const { return !loops_.empty(); }
  /// The loop around the code that is emitted, if each wave runs iterations of its own there; else null.
  const ir::Op *wave_split_loop() const;

  const KernelPlan &plan;
  llvm::Module &module;
  llvm::IRBuilder<> builder;
  llvm::Function &kernel;
  DebugLines lines;
  llvm::Value *lane; ///< 0..63
  llvm::Value *wave; ///< in scalar registers

  /// While the body of a loop is emitted.
  class LoopScope {
  public:
    LoopScope(EmitContext &context, const ir::Op &loop) : loops_(context.loops_) { loops_.push_back(&loop); }
    LoopScope(const LoopScope &) = delete;
    LoopScope &operator=(const LoopScope &) = delete;
    ~LoopScope() { loops_.pop_back(); }

  private:
    std::vector<const ir::Op *> &loops_;
  };

private:
  const ir::Op *current_ = nullptr;
  std::vector<const ir::Op *> loops_; ///< around the code that is emitted, outermost first
};

} // namespace nereid::codegen
