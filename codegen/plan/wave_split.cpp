// Which loops are split over the waves, and the layouts that follow from it.
#include "codegen/plan/wave_split.h"

#include <algorithm>

#include "codegen/target/cost_model.h"

namespace nereid::codegen {
namespace {

std::vector<const ir::Op *> loops_in(const ir::Function &function, const WaveSplitLoops &split) {
  std::vector<const ir::Op *> loops;
  ir::for_each_op(function, [&](const ir::Op &op, unsigned) {
    if (op.opcode == ir::Opcode::For && split.contains(op.blocks.front()))
      loops.push_back(&op);
  });
  return loops;
}

Status lay_out(KernelPlan &plan, const WaveSplitLoops &split, ColumnsOfRows columns) {
  const bool is_done = !plan.layouts.assigned.empty() && plan.layouts.wave_split == split;
  if (!is_done) {
    NEREID_TRY(plan.layouts, choose_layouts(plan.index, plan.axes, split, columns));
  }
  return {};
}

/// Whether the waves do as well by sharing the columns of each iteration: the loop can be an LDS pipeline and
/// every wave has at least two column tiles, so that it never takes the half of a scale dword.
bool runs_as_lds_pipeline(const KernelPlan &plan, const ir::Op &loop) {
  const Decision<LdsPipeline> pipeline = find_lds_pipeline(plan.facts(), loop);
  return pipeline && std::all_of(pipeline->loop.accumulators.begin(), pipeline->loop.accumulators.end(),
                                 [&](const DotAccumulator &accumulator) {
                                   const DotPlan &dot = plan.layouts.dots.at(accumulator.dots.front());
                                   return dot.b.row_tiles() >= cost::column_tiles_of_pipeline;
                                 });
}

/// Loops that run as LDS pipelines in the layouts of a kernel without split loops stay whole. These layouts
/// are chosen only if a loop may be one.
Status keep_lds_pipelines(KernelPlan &plan, WaveSplitLoops &split, ColumnsOfRows columns) {
  const std::vector<const ir::Op *> loops = loops_in(plan.function(), split);
  if (std::none_of(loops.begin(), loops.end(), [&](const ir::Op *loop) {
        return bool(find_streaming_loop(plan.index, plan.axes, *loop));
      }))
    return {};
  NEREID_CHECK(lay_out(plan, WaveSplitLoops(), columns));
  for (const ir::Op *loop : loops)
    if (runs_as_lds_pipeline(plan, *loop))
      split.remove(loop->blocks.front());
  return {};
}

/// A split loop that cannot be one in the layouts that it has.
std::optional<WholeLoop> first_obstacle(const KernelPlan &plan) {
  const std::vector<const ir::Op *> loops = loops_in(plan.function(), plan.layouts.wave_split);
  const bool is_asked = plan.function().options.wave_split == ir::WaveSplit::K;
  if (!loops.empty() && !is_asked && !dots_fit_vgprs(plan.layouts))
    return WholeLoop{loops.front(), {loops.front(), "a wave has no room for accumulators of whole tiles"}};
  for (const ir::Op *loop : loops)
    if (std::optional<Objection> objection = need_of_other_waves(plan.facts(), *loop))
      return WholeLoop{loop, *objection};
  return std::nullopt;
}

} // namespace

bool dots_fit_vgprs(const LayoutChoice &layouts) {
  return std::all_of(layouts.dots.begin(), layouts.dots.end(), [](const auto &dot) {
    const DotPlan &plan = dot.second;
    unsigned registers = plan.partial.value_or(plan.result).registers();
    for (const DotOperandPlan *side : {&plan.a, &plan.b}) {
      registers += plan.k_instructions * side->row_tiles() * side->dwords;
      registers += side->scale_layout.rank() != 0 ? side->scale_layout.registers() : 0;
    }
    return registers <= cost::vgprs_of_dots;
  });
}

Status choose_wave_split(KernelPlan &plan, ColumnsOfRows columns) {
  plan.layouts = {};
  const ir::CompileOptions &options = plan.function().options;
  NEREID_TRY(WaveSplitCandidates candidates, find_wave_split_loops(plan.index));
  plan.whole_loops = std::move(candidates.refused);
  WaveSplitLoops split = std::move(candidates.loops);
  if (options.wave_split == ir::WaveSplit::Auto)
    NEREID_CHECK(keep_lds_pipelines(plan, split, columns));
  for (;;) {
    NEREID_CHECK(lay_out(plan, split, columns));
    const std::optional<WholeLoop> obstacle = first_obstacle(plan);
    if (!obstacle)
      return {};
    if (options.wave_split == ir::WaveSplit::K)
      return wave_split_error(plan.function(), *obstacle);
    plan.whole_loops.push_back(*obstacle);
    split.remove(obstacle->loop->blocks.front());
  }
}

} // namespace nereid::codegen
