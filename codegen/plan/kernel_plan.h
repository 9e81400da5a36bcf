#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/remark.h"
#include "base/result.h"
#include "codegen/analysis/axis_info.h"
#include "codegen/analysis/function_index.h"
#include "codegen/analysis/value_ranges.h"
#include "codegen/assign/layout_choice.h"
#include "codegen/plan/device_order.h"
#include "codegen/plan/loop_plan.h"

namespace nereid::codegen {

/// All that is decided about a kernel before its LLVM IR is emitted. The function has to outlive it.
struct KernelPlan {
  explicit KernelPlan(const ir::Function &function) : index(function), axes(index), ranges(index) {}
  KernelPlan(const KernelPlan &) = delete;
  KernelPlan &operator=(const KernelPlan &) = delete;

  const ir::Function &function() const { return index.function(); }
  LoopFacts facts() const { return {index, axes, ranges, layouts}; }
  /// `loop`: a for of the function.
  const LoopPlan &loop(const ir::Op &loop) const;

  /// For people: layouts, dots, wave split, loops, remarks.
  std::string text() const;
  /// What was not done, or not as asked, and why; in the order of the function.
  std::vector<Remark> remarks() const;

  FunctionIndex index;
  AxisAnalysis axes;
  ValueRanges ranges;
  LayoutChoice layouts;               ///< with the plans of dots and the loops that are split over waves
  std::vector<WholeLoop> whole_loops; ///< loops that could not be split
  std::vector<LoopPlan> loops;        ///< in the order of the function
  DeviceOrder device_order;
  bool has_agprs = true; ///< accumulation registers may be used
};

/// The decisions, each taken once: analyses, which loops are split over waves and the layouts, a check of
/// registers, how each loop runs, how atomics order accesses. Errors: Nereid's for what does not compile yet,
/// the user's for tiles that do not fit and for a wave_split=k that no loop can have.
Result<std::unique_ptr<const KernelPlan>> plan_kernel(const ir::Function &function);

} // namespace nereid::codegen
