#pragma once

#include "codegen/lower/value_map.h"

namespace nereid::codegen {

struct Lowering;

/// Reductions and scans with a combining function, and butterflies: bit by bit along the axis, from the
/// lowest. What a bit joins lies in two registers, two lanes or two waves, the earlier side first: the order
/// of combination is that of the language in every layout.
class FoldEmitter {
public:
  explicit FoldEmitter(Lowering &parts);

  void emit(const ir::Op &op);
  void emit_butterfly(const ir::Op &op);

private:
  /// One element of each tile.
  using Part = Registers;
  struct Blocks;

  /// The operands' layout: a default one where theirs mixes the axis with others.
  LinearLayout layout_along(const ir::Op &op) const;
  Part combine(const ir::Op &op, const Part &a, const Part &b);
  /// Whether bit `bit` of the lane's or wave's number is 0.
  llvm::Value *is_lower(Space space, unsigned bit);
  Part select(llvm::Value *condition, const Part &a, const Part &b);
  /// The parts on the other side of a bit, and on both sides in order.
  std::vector<std::array<Part, 2>> both_sides(const std::vector<Part> &own, Space space, unsigned bit);
  void join_in_registers(const ir::Op &op, Blocks &blocks, unsigned bit);
  void join_over_threads(const ir::Op &op, Blocks &blocks, Space space, unsigned bit);
  /// The blocks of an odd factor, from first to last: their total.
  Part carry_over(const ir::Op &op, Blocks &blocks, const std::vector<uint32_t> &along);

  Lowering &parts_;
  EmitContext &context_;
  llvm::IRBuilder<> &builder_;
};

} // namespace nereid::codegen
