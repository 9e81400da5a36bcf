#pragma once

#include <functional>

#include "codegen/lower/body_copy.h"
#include "codegen/lower/six_bit.h"

namespace nereid::codegen {

/// quantize: groups of 32 values to codes and scales.
class QuantizeEmitter {
public:
  QuantizeEmitter(EmitContext &context, Packing &packing, LdsMemory &lds, MemoryOrder &order,
                  ExchangeEmitter &exchange, ValueMap &values, SixBitEmitter &six_bit)
      : context_(context), builder_(context.builder), packing_(packing), lds_(lds), order_(order),
        exchange_(exchange), values_(values), six_bit_(six_bit) {}

  /// Codes and scales.
  using Pair = std::array<Tile, 2>;

  void emit(const ir::Op &op, const BodyCopy &copy);
  /// Of a format of 4 or 8 bits, where no wave has a part only. Calls `between` twice for each group that a
  /// lane has, or has a part of: what it emits has the time that half of the work takes.
  Pair quantize(const ir::Op &op, const std::function<void()> &between = {});

private:
  /// Dwords of codes and bytes of scales, by group, of what a lane has of it.
  struct Quantized {
    std::vector<Registers> codes;
    Registers scales;
  };
  Quantized quantize_groups(const ir::Op &op, const Tile &x, const std::function<void()> &between = {});
  void emit_six_bits(const ir::Op &op);
  Registers bytes_of(const std::vector<Registers> &codes);
  /// Codes and scales of which each wave has a part, to all waves. Nothing if that takes more than one
  /// exchange for each; then they are converted apart.
  std::optional<Pair> share(const ir::Op &op, const Pair &own, const BodyCopy &copy);

  EmitContext &context_;
  llvm::IRBuilder<> &builder_;
  Packing &packing_;
  LdsMemory &lds_;
  MemoryOrder &order_;
  ExchangeEmitter &exchange_;
  ValueMap &values_;
  SixBitEmitter &six_bit_;
  std::unordered_map<const ir::Op *, llvm::GlobalVariable *> shared_arrays_;
};

} // namespace nereid::codegen
