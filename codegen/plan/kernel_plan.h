#pragma once

#include <memory>

#include "base/result.h"
#include "codegen/analysis/axis_info.h"
#include "codegen/analysis/function_index.h"
#include "codegen/analysis/value_ranges.h"
#include "codegen/assign/layout_choice.h"

namespace nereid::codegen {

/// All that is decided about a kernel before its LLVM IR is emitted. The function has to outlive it.
struct KernelPlan {
  explicit KernelPlan(const ir::Function &function) : index(function), axes(index), ranges(index) {}
  KernelPlan(const KernelPlan &) = delete;
  KernelPlan &operator=(const KernelPlan &) = delete;

  const ir::Function &function() const { return index.function(); }

  FunctionIndex index;
  AxisAnalysis axes;
  ValueRanges ranges;
  LayoutChoice layouts;
};

/// Whether loops may be split over the waves of the workgroup by iterations, where the function's wave_split
/// and analysis say so.
enum class SplitLoops : bool { Never, Allowed };

/// Analyses, the split of loops over waves, layouts, a check of registers. Errors: Nereid's for what does not
/// compile yet, the user's for tiles that do not fit and for a wave_split=k that no loop can have.
Result<std::unique_ptr<const KernelPlan>> plan_kernel(const ir::Function &function, SplitLoops split);

} // namespace nereid::codegen
