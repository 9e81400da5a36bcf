#pragma once

#include "codegen/lower/value_map.h"

namespace nereid::codegen {

/// Reductions: the registers of a lane by a tree, lanes by exchanges, waves through LDS. All threads end with
/// the result.
class ReduceEmitter {
public:
  ReduceEmitter(EmitContext &context, ExchangeEmitter &exchange, ValueMap &values)
      : context_(context), builder_(context.builder), exchange_(exchange), values_(values) {}

  void emit(const ir::Op &op);

private:
  /// What is reduced of one element: its value, and for argmax its index.
  using Part = Registers;

  std::vector<Part> parts_of(const ir::Op &op, const LinearLayout &layout, unsigned axis);
  Part combine(const ir::Op &op, const Part &a, const Part &b);
  Part reduce_registers(const ir::Op &op, std::vector<Part> parts);
  Part reduce_lanes(const ir::Op &op, Part part, uint32_t lanes);
  std::vector<Part> reduce_waves(const ir::Op &op, const std::vector<Part> &parts, const LinearLayout &layout,
                                 uint32_t waves);

  EmitContext &context_;
  llvm::IRBuilder<> &builder_;
  ExchangeEmitter &exchange_;
  ValueMap &values_;
};

/// Each wave holds accumulators of the whole tile in `layout`; gives the total in `result`, added in the
/// order of the waves.
Registers sum_over_waves(llvm::IRBuilder<> &builder, ExchangeEmitter &exchange, const Registers &accumulators,
                         const LinearLayout &layout, const LinearLayout &result);

} // namespace nereid::codegen
