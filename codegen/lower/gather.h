#pragma once

#include "codegen/lower/value_map.h"

namespace nereid::codegen {

/// gather: all elements go to LDS in row-major order, from where each thread takes those that it wants. An
/// index outside of the axis gives the element at its end.
class GatherEmitter {
public:
  GatherEmitter(EmitContext &context, LdsMemory &lds, MemoryOrder &order, ValueMap &values)
      : context_(context), builder_(context.builder), lds_(lds), order_(order), values_(values) {}

  void emit(const ir::Op &op);

private:
  /// By register: the place of its element in a row-major array of `shape`; along `axis`, if given, the
  /// coordinates are those of `index`.
  Registers places(const LinearLayout &layout, const ir::Shape &shape, std::optional<unsigned> axis,
                   const Registers &index);

  EmitContext &context_;
  llvm::IRBuilder<> &builder_;
  LdsMemory &lds_;
  MemoryOrder &order_;
  ValueMap &values_;
};

} // namespace nereid::codegen
