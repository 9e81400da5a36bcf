// The decisions about a kernel, in the order in which they are taken.
#include "codegen/plan/kernel_plan.h"

#include <algorithm>

#include "codegen/assign/register_fit.h"
#include "codegen/layout/layout_error.h"
#include "codegen/schedule/lds_pipeline.h"

namespace nereid::codegen {
namespace {

/// Whether the waves do as well by sharing the columns of each iteration: the loop can be an LDS pipeline and
/// every wave has two column tiles at least, so that it never takes the half of a scale dword.
bool runs_as_lds_pipeline(const KernelPlan &plan, const LayoutChoice &layouts, const ir::Op &loop) {
  constexpr unsigned column_tiles = 2;
  std::optional<LdsPipeline> pipeline = find_lds_pipeline(plan.index, plan.axes, layouts, loop);
  return pipeline && std::all_of(pipeline->accumulators.begin(), pipeline->accumulators.end(),
                                 [&](const PipelineAccumulator &sum) {
                                   return layouts.dots.at(sum.dots.front()).b.row_tiles() >= column_tiles;
                                 });
}

void keep_lds_pipelines(const KernelPlan &plan, WaveSplitLoops &split) {
  Result<LayoutChoice> layouts = choose_layouts(plan.index, plan.axes, WaveSplitLoops());
  if (!layouts)
    return;
  ir::for_each_op(plan.function(), [&](const ir::Op &op, unsigned) {
    if (op.opcode == ir::Opcode::For && split.contains(op.blocks.front()) &&
        runs_as_lds_pipeline(plan, *layouts, op))
      split.remove(op.blocks.front());
  });
}

Result<WaveSplitLoops> split_loops(const KernelPlan &plan) {
  NEREID_TRY(WaveSplitLoops split, find_wave_split_loops(plan.index));
  if (plan.function().options.wave_split == ir::WaveSplit::Auto && !split.empty())
    keep_lds_pipelines(plan, split);
  return split;
}

} // namespace

Result<std::unique_ptr<const KernelPlan>> plan_kernel(const ir::Function &function, SplitLoops split) {
  auto plan = std::make_unique<KernelPlan>(function);
  try {
    WaveSplitLoops loops;
    if (split == SplitLoops::Allowed) {
      NEREID_TRY(loops, split_loops(*plan));
    }
    NEREID_TRY(plan->layouts, choose_layouts(plan->index, plan->axes, loops));
  } catch (const LayoutError &error) {
    return error.error();
  }
  NEREID_CHECK(check_registers(plan->index, plan->layouts));
  return std::unique_ptr<const KernelPlan>(std::move(plan));
}

} // namespace nereid::codegen
