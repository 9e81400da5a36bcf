// The decisions about a kernel, in the order in which they are taken.
#include "codegen/plan/kernel_plan.h"

#include <algorithm>

#include "codegen/assign/register_fit.h"
#include "codegen/layout/layout_error.h"
#include "codegen/plan/wave_split.h"

namespace nereid::codegen {
namespace {

/// Accumulators of an LDS pipeline live where its schedule has them; else AGPRs are off where dots do
/// without them.
bool wants_agprs(const KernelPlan &plan) {
  bool has_pipeline = false;
  for (const LoopPlan &loop : plan.loops)
    if (const auto *pipeline = std::get_if<LdsPipeline>(&loop.schedule)) {
      has_pipeline = true;
      if (pipeline->schedule.accumulators_in_agprs)
        return true;
    }
  return !has_pipeline && (plan.layouts.dots.empty() || !dots_fit_vgprs(plan.layouts));
}

Status lay_out_and_schedule(KernelPlan &plan, ColumnsOfRows columns) {
  NEREID_CHECK(choose_wave_split(plan, columns));
  NEREID_CHECK(check_registers(plan.index, plan.layouts));
  plan.loops.clear();
  ir::for_each_op(plan.function(), [&](const ir::Op &op, unsigned) {
    if (op.opcode == ir::Opcode::For)
      plan.loops.push_back(plan_loop(plan.facts(), op));
  });
  return {};
}

/// A load has a layout for transposing reads in a loop that has none.
bool lacks_transposed_reads(const KernelPlan &plan) {
  return std::any_of(plan.loops.begin(), plan.loops.end(), [&](const LoopPlan &loop) {
    const std::vector<ir::Op> &body = loop.op->blocks.front().ops;
    return !std::holds_alternative<LdsPipeline>(loop.schedule) &&
           !std::holds_alternative<LdsPrefetch>(loop.schedule) &&
           std::any_of(body.begin(), body.end(), [&](const ir::Op &op) {
             const std::optional<LinearLayout> *layout =
                 op.opcode == ir::Opcode::Load ? &plan.layouts.assigned[op.result()] : nullptr;
             return layout && *layout && wants_transposed_reads(plan.function(), plan.axes, op, **layout);
           });
  });
}

Status decide(KernelPlan &plan) {
  NEREID_CHECK(lay_out_and_schedule(plan, ColumnsOfRows::TransposedReads));
  if (lacks_transposed_reads(plan))
    NEREID_CHECK(lay_out_and_schedule(plan, ColumnsOfRows::Conversions));
  plan.device_order = plan_device_order(plan.index, plan.loops);
  plan.has_agprs = wants_agprs(plan);
  return {};
}

} // namespace

const LoopPlan &KernelPlan::loop(const ir::Op &loop) const {
  return *std::find_if(loops.begin(), loops.end(), [&](const LoopPlan &plan) { return plan.op == &loop; });
}

Result<std::unique_ptr<const KernelPlan>> plan_kernel(const ir::Function &function) {
  auto plan = std::make_unique<KernelPlan>(function);
  try {
    NEREID_CHECK(decide(*plan));
  } catch (const LayoutError &error) {
    return error.error();
  }
  return std::unique_ptr<const KernelPlan>(std::move(plan));
}

} // namespace nereid::codegen
