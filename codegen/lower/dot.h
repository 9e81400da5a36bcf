#pragma once

#include "codegen/lower/fragments.h"

namespace nereid::codegen {

/// Matrix products: dot and dot_scaled.
class DotEmitter {
public:
  DotEmitter(EmitContext &context, ExchangeEmitter &exchange, ValueMap &values, FragmentEmitter &fragments)
      : context_(context), builder_(context.builder), exchange_(exchange), values_(values),
        fragments_(fragments) {}

  /// Defines `result` as the dot, plus `addend`.
  void emit(const ir::Op &op, ir::ValueId result, std::optional<ir::ValueId> addend);

private:
  llvm::Value *accumulate(const DotPlan &plan, const Fragments &b, const Fragments &a, unsigned n_tile,
                          unsigned m_tile, llvm::Value *sum);
  void accumulate_tile(const DotPlan &plan, const Fragments &b, const Fragments &a, unsigned n_tile,
                       unsigned m_tile, Registers &accumulators);
  llvm::Value *sum_over_steps(const DotOperandPlan &plan, llvm::Value *sum);

  EmitContext &context_;
  llvm::IRBuilder<> &builder_;
  ExchangeEmitter &exchange_;
  ValueMap &values_;
  FragmentEmitter &fragments_;
};

/// One matrix instruction: tile n of B and m of A, number k along K.
llvm::Value *mfma(llvm::IRBuilder<> &builder, const DotPlan &plan, const Fragments &b, const Fragments &a,
                  unsigned n_tile, unsigned m_tile, unsigned k, llvm::Value *accumulator);

/// Whether a dot's only use is an addition in the same region: then it is emitted there, and starts at the
/// other addend.
bool is_folded_dot(const KernelPlan &plan, const ir::Op &op);

} // namespace nereid::codegen
