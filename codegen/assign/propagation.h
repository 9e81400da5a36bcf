#pragma once

#include <functional>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "codegen/analysis/axis_info.h"
#include "codegen/analysis/function_index.h"
#include "codegen/assign/butterfly_chains.h"
#include "codegen/assign/layout_choice.h"

namespace nereid::codegen {

/// A store or an atomic.
bool is_write(const ir::Op &op);

/// Gives values their layouts. Each layout suggests others to the operands and users of its value, until
/// nothing changes; a value keeps the first that it gets. What is left to do is on lists, and the stack does
/// not grow with the function.
class Propagation {
public:
  /// Fills in `choice`, which has the loops that waves split.
  Propagation(const FunctionIndex &index, const AxisAnalysis &axes, ColumnsOfRows columns,
              LayoutChoice &choice);

  /// The value has no layout and needs one.
  bool is_open(ir::ValueId value) const;
  /// The layout of a value, or of a view whose operand has one.
  std::optional<LinearLayout> known(ir::ValueId value) const;

  /// The value gets the layout; so do open values that must match it.
  void assign(ir::ValueId value, const LinearLayout &layout);
  /// An open value gets the layout, a view passes it on to its operands. Loads refuse a layout in which they
  /// would move much less at a time than in their own, unless transposing reads can fill it.
  void suggest(ir::ValueId value, const LinearLayout &layout);
  void assign_quantize(const ir::Op &op);
  /// The joins of butterfly chains lie as their halves do, side by side in registers: the next stage converts
  /// the whole of it, not each half.
  void assign_butterfly_joins();
  void to_fixpoint();
  /// From here on suggestions come from stores and neighbours, not from dots.
  void begin_stores();

  /// Where errors of the algebra are from here on: at an operation.
  void at(const ir::Op &op) { current_ = &op; }
  SourceLine location() const { return current_ ? function_.location(*current_) : SourceLine{}; }

  /// `make(waves)` for all waves, or for each alone in a loop that they split.
  LinearLayout for_waves(const ir::Op &op, const std::function<LinearLayout(int waves)> &make) const;
  /// The layout in which a load, store or atomic touches whole cache lines.
  LinearLayout coalesced(const ir::Op &op) const;
  /// `layout`, unless the load, store or atomic would move less than a dword at a time in it and much more
  /// coalesced.
  LinearLayout or_coalesced(const ir::Op &op, const LinearLayout &layout) const;

private:
  /// A layout for a value that must or should have it.
  struct Pending {
    ir::ValueId value;
    LinearLayout layout;
    bool must;
  };

  void link(const ir::Op &op);
  void carry_out(std::vector<Pending> stack);
  void take(ir::ValueId value, const LinearLayout &suggested, std::vector<Pending> &stack);
  void set(ir::ValueId value, const LinearLayout &layout, std::vector<Pending> &stack);
  void mark_neighbours(ir::ValueId value);
  void backward(const ir::Op &op);
  void forward(const ir::Op &op);
  LinearLayout layout_of_load(const ir::Op &load, const LinearLayout &wanted) const;
  bool is_wave_split(const ir::Op &op) const { return choice_.wave_split.contains(*index_.block(op)); }
  const AxisInfo *mask_of(const ir::Op &op) const;

  const FunctionIndex &index_;
  const ir::Function &function_;
  const AxisAnalysis &axes_;
  ColumnsOfRows columns_;
  std::unordered_set<const ir::Block *> staged_; ///< bodies of loops with stages
  LayoutChoice &choice_;
  const ButterflyChains butterflies_;
  std::vector<const ir::Op *> ops_;
  /// Numbers of the operations that make a value, and that use it or prefer to match it.
  std::vector<std::optional<size_t>> definition_;
  std::vector<std::vector<size_t>> users_;
  /// Values that must have one layout (a loop's argument and result), and those that should (what is
  /// yielded).
  std::unordered_map<ir::ValueId, std::vector<ir::ValueId>> must_match_, prefer_match_;
  /// Operations to look at again, since a value of theirs has got a layout.
  std::set<size_t> backward_, forward_;
  bool from_stores_ = false;
  const ir::Op *current_ = nullptr;
};

} // namespace nereid::codegen
