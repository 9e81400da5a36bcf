#pragma once

#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "codegen/analysis/axis_info.h"
#include "codegen/analysis/wave_split_loops.h"
#include "codegen/assign/dot_plan.h"
#include "codegen/layout/linear_layout.h"

namespace nereid::codegen {

/// How a loop's loads of matrices whose rows are contiguous come into layouts whose lanes hold columns: by
/// transposing reads of LDS, which only LDS pipelines emit, or by conversions.
enum class ColumnsOfRows : uint8_t { TransposedReads, Conversions };

/// The layouts of a kernel's values. Scalars, rematerialisable values and views are assigned none: they come
/// in whichever layout they are wanted.
struct LayoutChoice {
  std::vector<std::optional<LinearLayout>> assigned; ///< by ValueId
  std::unordered_map<const ir::Op *, DotPlan> dots;
  std::unordered_map<const ir::Op *, LinearLayout> quantize_operands;
  /// In which stores and atomics want their operands.
  std::unordered_map<const ir::Op *, LinearLayout> writes;
  /// Of these each wave makes a part, and all get the codes and scales in their layouts through LDS.
  std::unordered_set<const ir::Op *> shared_quantizes;
  WaveSplitLoops wave_split; ///< here the values of the body lie alike in each wave, whose iterations differ

  const LinearLayout &layout(ir::ValueId value) const { return *assigned[value]; }
};

/// Layouts flow backwards from the operands of dots (whose own results are fixed), forwards from those
/// results through what they are combined with, then backwards from stores; loads that nobody wanted in a
/// particular layout get the coalesced one; the rest follows its operands. Errors: Nereid's, for dots without
/// an instruction; the user's, for waves that are no power of two.
Result<LayoutChoice> choose_layouts(const FunctionIndex &index, const AxisAnalysis &axes,
                                    const WaveSplitLoops &wave_split, ColumnsOfRows columns);

} // namespace nereid::codegen
