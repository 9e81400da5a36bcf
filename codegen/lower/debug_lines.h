#pragma once

#include <llvm/IR/DIBuilder.h>
#include <llvm/IR/Function.h>

namespace nereid::codegen {

/// Positions for the line table of a kernel: lines of its printed canonical form, "<kernel>.tir".
class DebugLines {
public:
  explicit DebugLines(llvm::Function &kernel);

  llvm::DILocation *at(unsigned line, unsigned column = 1) const;
  /// Once, after the last position.
  void finish() { builder_.finalize(); }

private:
  llvm::DIBuilder builder_;
  llvm::DISubprogram *subprogram_;
};

} // namespace nereid::codegen
