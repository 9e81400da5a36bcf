#pragma once

#include <optional>
#include <unordered_map>

#include "codegen/analysis/axis_info.h"
#include "codegen/analysis/function_index.h"

namespace nereid::codegen {

/// How the values of a loop's body change from round to round, as far as that is known at compile time.
class LoopInduction {
public:
  /// `loop` is a for; its step must be a constant (else nothing is known of the index).
  LoopInduction(const FunctionIndex &index, const AxisAnalysis &axes, const ir::Op &loop);

  std::optional<int64_t> step() const { return step_; }
  /// Whether a value may differ between rounds.
  bool varies(ir::ValueId value) const;
  /// What a round adds to every element of an integer or pointer tile (bytes for pointers). An i32 overflow
  /// that reaches an address is the author's error, so that sums and products count as exact.
  std::optional<int64_t> change(ir::ValueId value) const;

  /// A comparison "tile < bound" that, once false somewhere, is false there in all later rounds: the left
  /// side rises with the rounds and has a bound over the tile that scalars give, the right side is a scalar.
  struct Condition {
    ir::ValueId rising; ///< see `greatest`
    ir::ValueId bound;  ///< scalar
    bool inclusive;     ///< <= instead of <
  };
  std::optional<Condition> condition(ir::ValueId value) const;
  /// Whether a tile's greatest element is a sum of scalars and constants.
  bool has_greatest(ir::ValueId value) const;

private:
  std::optional<int64_t> compute(const ir::Op &op) const;
  std::optional<int64_t> constant(ir::ValueId value) const;
  const ir::Op *body_definition(ir::ValueId value) const;

  const FunctionIndex &index_;
  const AxisAnalysis &axes_;
  const ir::Block &body_;
  std::optional<int64_t> step_;
  mutable std::unordered_map<ir::ValueId, bool> varies_;
};

} // namespace nereid::codegen
