#pragma once

#include "codegen/convert/convert_plan.h"
#include "codegen/lower/lds_memory.h"
#include "codegen/lower/memory_order.h"
#include "codegen/lower/packing.h"

namespace nereid::codegen {

/// Emits what the conversion planner decides: elements between the registers, lanes and waves of two layouts.
class ExchangeEmitter {
public:
  ExchangeEmitter(EmitContext &context, Packing &packing, LdsMemory &lds, MemoryOrder &order)
      : context_(context), builder_(context.builder), packing_(packing), lds_(lds), order_(order) {}

  Registers convert(const Registers &registers, const LinearLayout &from, const LinearLayout &to);
  Registers run(const std::vector<ConversionStep> &steps, Registers registers);

  /// The halves of one pass of an exchange, for elements of `type` in an array at `base`. Barriers are the
  /// caller's.
  void write(const LdsStep &step, unsigned pass, const Registers &old, llvm::Value *base);
  void read(const LdsStep &step, unsigned pass, llvm::Type *type, llvm::Value *base, Registers &result);

private:
  Registers emit(const RenameStep &step, const Registers &old);
  Registers emit(const SelectStep &step, const Registers &old);
  Registers emit(const ShuffleStep &step, const Registers &old);
  Registers emit(const SwapStep &step, const Registers &old);
  Registers emit(const LdsStep &step, const Registers &old);
  Registers swap_dwords(const SwapStep &step, const Registers &dwords, unsigned reg_bit);
  Registers swap_halves(const SwapStep &step, const Registers &old);
  Registers by_packed_dwords(const Registers &old, unsigned pack_bits,
                             const std::function<Registers(const Registers &, unsigned)> &move);
  llvm::Value *lds_address(const LdsSide &side, const LdsAccess &access, llvm::Value *thread, unsigned bytes,
                           llvm::Value *base);

  EmitContext &context_;
  llvm::IRBuilder<> &builder_;
  Packing &packing_;
  LdsMemory &lds_;
  MemoryOrder &order_;
};

} // namespace nereid::codegen
