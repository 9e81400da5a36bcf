#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "codegen/analysis/axis_info.h"
#include "codegen/analysis/function_index.h"

namespace nereid::codegen {

/// How the values of a loop's body change from iteration to iteration, as far as that is known at compile
/// time.
class LoopInduction {
public:
  /// `loop` is a for; its step must be a constant (else nothing is known of the index).
  LoopInduction(const FunctionIndex &index, const AxisAnalysis &axes, const ir::Op &loop);

  std::optional<int64_t> step() const { return step_; }
  /// Whether a value may differ between iterations.
  bool varies(ir::ValueId value) const { return change_.count(value) != 0; }
  /// What an iteration adds to every element of an integer or pointer tile (bytes for pointers). An i32
  /// overflow that reaches an address is the author's error, so that sums and products count as exact.
  std::optional<int64_t> change(ir::ValueId value) const;

  /// The same where it may be so many times a scalar that does not vary.
  struct Change {
    int64_t amount;
    std::optional<ir::ValueId> factor;
  };
  std::optional<Change> scaled_change(ir::ValueId value) const;

  /// A comparison "tile < bound" that, once false somewhere, is false there in all later iterations: the left
  /// side, whose largest element scalars give, rises from the right side, a scalar, or keeps its distance.
  struct Condition {
    ir::ValueId rising; ///< has_max_element
    ir::ValueId bound;  ///< scalar, perhaps of the loop's body
    bool inclusive;     ///< <= instead of <
  };
  std::optional<Condition> condition(ir::ValueId value) const;
  /// Whether a tile's largest element is a sum of scalars and constants.
  bool has_max_element(ir::ValueId value) const;

private:
  std::optional<Change> change_of(const ir::Op &op) const;
  std::optional<Change> change_of_product(const ir::Op &op) const;
  std::optional<ir::ValueId> fixed_scalar(ir::ValueId value) const;
  std::optional<int64_t> constant(ir::ValueId value) const;
  const std::vector<ir::ValueId> &terms_of(ir::ValueId value) const;
  /// A scalar, a constant or an arange.
  bool is_bounded_term(ir::ValueId value) const;

  const FunctionIndex &index_;
  const AxisAnalysis &axes_;
  std::optional<int64_t> step_;
  /// Of the values that vary: what an iteration adds, if that is known.
  std::unordered_map<ir::ValueId, std::optional<Change>> change_;
  /// Answers given before, as each comparison of a chain asks for all that comes before it.
  mutable std::unordered_map<ir::ValueId, bool> has_max_element_;
};

} // namespace nereid::codegen
