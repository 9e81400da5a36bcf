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

Status decide(KernelPlan &plan) {
  NEREID_CHECK(choose_wave_split(plan));
  NEREID_CHECK(check_registers(plan.index, plan.layouts));
  ir::for_each_op(plan.function(), [&](const ir::Op &op, unsigned) {
    if (op.opcode == ir::Opcode::For)
      plan.loops.push_back(plan_loop(plan.facts(), op));
  });
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
