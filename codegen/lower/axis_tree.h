#pragma once

#include <functional>

#include "codegen/lower/exchange.h"

namespace nereid::codegen {

/// One element of each tile that is reduced or scanned.
using Part = Registers;

/// How parts along an axis become one, or running ones.
struct AxisRule {
  std::function<Part(const Part &earlier, const Part &later)> combine;
  bool is_scan;
  bool commutes; ///< either of the two may come first
};

/// Combines parts bit by bit along an axis, from the lowest: blocks of 2^bit elements know their total and,
/// in a scan, their running parts. What a bit joins lies in two registers, two lanes or two waves, the
/// earlier side first; the blocks that an odd factor makes follow from first to last. So the order of
/// combination is that of the language in every layout.
class AxisTree {
public:
  AxisTree(EmitContext &context, ExchangeEmitter &exchange, AxisRule rule)
      : context_(context), builder_(context.builder), exchange_(exchange), rule_(std::move(rule)) {}

  /// `parts` by register of the layout. Gives a scan's by register of it, a reduction's by register of the
  /// reduced layout. A layout that mixes the axis with others is an error of the operation.
  std::vector<Part> run(const ir::Op &op, std::vector<Part> parts, const LinearLayout &layout, unsigned axis);

private:
  /// The parts on both sides of a bit.
  struct Sides {
    Part first, second; ///< to be combined in this order
    Part before;        ///< what the upper side has before it
  };
  struct Blocks;

  Part select(llvm::Value *condition, const Part &a, const Part &b);
  Sides of_lanes(const Part &own, unsigned bit);
  std::vector<Sides> of_waves(const std::vector<Part> &own, unsigned bit);
  void join_in_registers(Blocks &blocks, unsigned bit);
  void join_over_threads(Blocks &blocks, Space space, unsigned bit);
  /// The blocks of an odd factor in the registers `along`: their total.
  Part carry_over(Blocks &blocks, const std::vector<uint32_t> &along);

  EmitContext &context_;
  llvm::IRBuilder<> &builder_;
  ExchangeEmitter &exchange_;
  AxisRule rule_;
};

/// Whether bit `bit` of the lane's or wave's number is 0.
llvm::Value *is_lower(EmitContext &context, Space space, unsigned bit);

} // namespace nereid::codegen
