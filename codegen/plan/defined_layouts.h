#pragma once

#include <optional>
#include <vector>

#include "codegen/analysis/function_index.h"
#include "codegen/assign/layout_choice.h"

namespace nereid::codegen {

/// The layout in which each value is first had: that of LayoutChoice, but for operations whose results come
/// out otherwise (reductions and cumsum as their operand lies, quantize as its groups do).
class DefinedLayouts {
public:
  DefinedLayouts(const FunctionIndex &index, const LayoutChoice &layouts);

  /// Null for scalars and for values that are made in whichever layout they are wanted.
  const LinearLayout *of(ir::ValueId value) const { return layouts_[value] ? &*layouts_[value] : nullptr; }
  /// In which a value can be had without moving it, through views; broadcast registers left out.
  LinearLayout without_moving(ir::ValueId value) const;
  /// In which a reduction or a cumsum takes its operand.
  LinearLayout operand_along_axis(const ir::Op &op) const;

private:
  void define(const ir::Op &op);
  void define_along_axis(const ir::Op &op);
  void define_quantized(const ir::Op &op);

  const FunctionIndex &index_;
  const LayoutChoice &choice_;
  std::vector<std::optional<LinearLayout>> layouts_; ///< by ValueId
};

/// The operand of a quantize with its registers in the order of the groups: the five lowest bits walk through
/// the 32 values of a group.
LinearLayout in_group_order(const LinearLayout &operand);

} // namespace nereid::codegen
