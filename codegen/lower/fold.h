#pragma once

#include "codegen/lower/axis_tree.h"

namespace nereid::codegen {

struct Lowering;

/// Reductions and scans with a combining function, cumsum, and butterflies.
class FoldEmitter {
public:
  explicit FoldEmitter(Lowering &parts);

  void emit(const ir::Op &op);
  void emit_cumsum(const ir::Op &op);
  void emit_butterfly(const ir::Op &op);

private:
  /// The operands' layout: a default one where theirs mixes the axis with others.
  LinearLayout layout_along(const ir::Op &op) const;
  /// The combining function of a reduce or scan.
  Part combine(const ir::Op &op, const Part &a, const Part &b);

  Lowering &parts_;
  EmitContext &context_;
  llvm::IRBuilder<> &builder_;
};

} // namespace nereid::codegen
