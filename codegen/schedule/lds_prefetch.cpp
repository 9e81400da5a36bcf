// Which loops have their tiles brought to LDS ahead, and how far.
#include "codegen/schedule/lds_prefetch.h"

#include <algorithm>

#include <fmt/format.h>

#include "codegen/schedule/first_use.h"
#include "codegen/target/cost_model.h"

namespace nereid::codegen {

namespace {

std::optional<Objection> effect_in(const ir::Block &body) {
  for (const ir::Op &op : body.ops) {
    const bool is_effect =
        ir::facts(op.opcode).effect == ir::OpEffect::Effect && op.opcode != ir::Opcode::Assume;
    if (!op.blocks.empty() || is_effect)
      return Objection{&op, fmt::format("its body has a {}", ir::facts(op.opcode).name)};
  }
  return std::nullopt;
}

/// A tile that the body loads twice, as attention's keys that also are the values, is copied once.
void share_copies(const FunctionIndex &index, const AxisAnalysis &axes, LdsPrefetch &plan) {
  for (size_t reader = 1; reader < plan.loads.size(); ++reader)
    for (size_t source = 0; source < reader && !plan.loads[reader].source; ++source)
      if (!plan.loads[source].source && is_same_tile(index, plan.loads[source], plan.loads[reader]))
        read_copies_of(index, axes, source, plan.loads[source], plan.loads[reader]);
}

/// As many buffers as the loop asks for and the LDS has room for; less than two: none.
void choose_buffers(LdsPrefetch &plan) {
  const auto asked = static_cast<unsigned>(
      std::min<int64_t>(plan.loop.stages, static_cast<int64_t>(cost::max_pipeline_buffers)));
  plan.limit = asked < plan.loop.stages ? DepthLimit::Buffers : DepthLimit::Asked;
  for (plan.buffers = asked; plan.buffers >= 2; --plan.buffers) {
    if (plan.buffers * plan.lds_bytes() > gfx950::lds_bytes)
      plan.limit = DepthLimit::Lds;
    else if (plan.buffers * plan.copies() >= gfx950::max_vmcnt)
      plan.limit = DepthLimit::Outstanding;
    else
      return;
  }
}

} // namespace

unsigned LdsPrefetch::copies() const {
  unsigned count = 0;
  for (const PipelinedLoad &load : loads)
    count += load.copy_count();
  return count;
}

unsigned LdsPrefetch::lds_bytes() const {
  unsigned bytes = 0;
  for (const PipelinedLoad &load : loads)
    bytes += load.source ? 0 : load.image->bytes();
  return bytes;
}

Decision<LdsPrefetch> plan_lds_prefetch(const FunctionIndex &index, const AxisAnalysis &axes,
                                        const ValueRanges &ranges, const LayoutChoice &layouts,
                                        const ir::Op &loop) {
  if (layouts.wave_split.contains(loop.blocks.front()))
    return Objection{&loop, "its iterations are split over the waves"};
  if (std::optional<Objection> objection = effect_in(loop.blocks.front()))
    return *objection;
  Decision<StreamedLoop> streamed = find_streamed_loop(index, axes, loop);
  if (!streamed)
    return streamed.objection();
  LdsPrefetch plan{std::move(*streamed), {}};
  for (const StreamedLoad &load : plan.loop.loads) {
    Decision<PipelinedLoad> found = plan_pipelined_load(index, axes, layouts, load);
    if (!found)
      return found.objection();
    if (!found->through_lds())
      return Objection{load.op, "it does not come through LDS"};
    if (load.has_iteration_mask && load.fixed_masks.empty())
      found->bound = row_bound(index, axes, ranges, *load.op);
    plan.loads.push_back(std::move(*found));
  }
  if (plan.loads.empty())
    return Objection{&loop, "its body loads no tile"};
  std::stable_sort(plan.loads.begin(), plan.loads.end(), [&](const PipelinedLoad &a, const PipelinedLoad &b) {
    return index.line(first_use(index, *a.op)) < index.line(first_use(index, *b.op));
  });
  share_copies(index, axes, plan);
  choose_buffers(plan);
  if (plan.buffers < 2)
    return Objection{&loop, fmt::format("two stages do not fit: {}", text_of(plan.limit))};
  return plan;
}

} // namespace nereid::codegen
