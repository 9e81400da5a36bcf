#pragma once

#include "codegen/lower/value_map.h"

namespace nereid::codegen {

/// Reductions: the registers of a lane by a tree, lanes by exchanges, waves through LDS. All threads end with
/// the result. An argmax is the maximum, then the least index of those that are equal to it.
class ReduceEmitter {
public:
  ReduceEmitter(EmitContext &context, ExchangeEmitter &exchange, ValueMap &values)
      : context_(context), builder_(context.builder), exchange_(exchange), values_(values) {}

  void emit(const ir::Op &op);

private:
  /// How two elements become one.
  struct Combining {
    ir::Opcode opcode; ///< ReduceSum, ReduceMax, ReduceMin or ReduceAny
    ir::Element element;
    bool numbers_only = false; ///< the result is not used where there is a NaN
    bool is_float() const { return ir::is_float(element); }
  };

  Registers reduce_axis(const Combining &how, const Registers &values, const LinearLayout &layout,
                        unsigned axis);
  Registers argmax(const Combining &how, const Registers &values, const LinearLayout &layout, unsigned axis);
  llvm::Value *combine(const Combining &how, llvm::Value *a, llvm::Value *b);
  llvm::Value *reduce_registers(const Combining &how, Registers values);
  llvm::Value *reduce_lanes(const Combining &how, llvm::Value *value, uint32_t lanes);
  llvm::Value *reduce_all_lanes(const Combining &how, llvm::Value *value);
  llvm::Value *extreme_of_lanes(const Combining &how, llvm::Value *value);
  Registers reduce_waves(const Combining &how, const Registers &values, const LinearLayout &layout,
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
