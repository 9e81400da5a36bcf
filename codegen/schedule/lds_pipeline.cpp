// Which streaming loops run as LDS pipelines: what goes through LDS, what a stage needs, and the schedule.
#include "codegen/schedule/lds_pipeline.h"

#include <algorithm>
#include <numeric>
#include <unordered_set>

#include <fmt/format.h>

#include "codegen/assign/memory_layout.h"
#include "codegen/target/gfx950.h"

namespace nereid::codegen {

namespace {

class Planner {
public:
  Planner(const FunctionIndex &index, const AxisAnalysis &axes, const LayoutChoice &layouts)
      : index_(index), function_(index.function()), axes_(axes), layouts_(layouts) {}

  Decision<LdsPipeline> plan(StreamingLoop loop) const;

private:
  std::optional<Objection> check_accumulators(const StreamingLoop &loop) const;
  bool has_columns(const LdsPipeline &pipeline, const ir::Op &load) const;
  LdsPipelineDemand demand_of(const LdsPipeline &pipeline) const;
  unsigned waves_of_a_simd() const;

  const FunctionIndex &index_;
  const ir::Function &function_;
  const AxisAnalysis &axes_;
  const LayoutChoice &layouts_;
};

/// A dot's accumulator is the carried value itself, and every step along K one matrix instruction.
std::optional<Objection> Planner::check_accumulators(const StreamingLoop &loop) const {
  for (size_t i = 0; i < loop.accumulators.size(); ++i)
    for (const ir::Op *dot : loop.accumulators[i].dots) {
      const DotPlan &plan = layouts_.dots.at(dot);
      if (layouts_.assigned[loop.op->blocks.front().arguments[i + 1]] != plan.result)
        return Objection{dot, "its sum does not lie as the accumulator does"};
      if (1u << plan.result_bits != plan.mfma->result_registers() || plan.a.k_lane_bits != 0)
        return Objection{dot, "its tile is smaller than a matrix instruction's"};
      if (plan.scales_accumulators)
        return Objection{dot, "its matrix instruction takes no scales"};
      if (plan.a.facts->has_six_bits() || plan.b.facts->has_six_bits())
        return Objection{dot, "its operands have formats of 6 bits"};
    }
  return std::nullopt;
}

/// The minimum of waves that a SIMD has to hold.
unsigned Planner::waves_of_a_simd() const {
  const ir::CompileOptions &options = function_.options;
  const unsigned spread = (static_cast<unsigned>(options.waves) + gfx950::simds - 1) / gfx950::simds;
  return std::max(spread, static_cast<unsigned>(options.waves_per_eu));
}

/// Whether a dot's right side is computed from the load.
bool Planner::has_columns(const LdsPipeline &pipeline, const ir::Op &load) const {
  std::vector<ir::ValueId> open;
  for (const DotAccumulator &accumulator : pipeline.loop.accumulators)
    for (const ir::Op *dot : accumulator.dots)
      open.push_back(sides_of_dot(function_, *dot).b.value);
  std::unordered_set<ir::ValueId> seen;
  while (!open.empty()) {
    const ir::ValueId value = open.back();
    open.pop_back();
    const ir::Op *op = index_.definition(value);
    if (op == &load)
      return true;
    if (op && seen.insert(value).second)
      open.insert(open.end(), op->operands.begin(), op->operands.end());
  }
  return false;
}

/// Chunks are of rows: columns that come through LDS are needed in all of them, beside those of the next
/// stage.
LdsPipelineDemand Planner::demand_of(const LdsPipeline &pipeline) const {
  LdsPipelineDemand demand;
  for (const PipelinedLoad &load : pipeline.loads) {
    const unsigned bytes = ir::byte_size(function_.type(load.op->result()).element);
    const auto groups = static_cast<unsigned>(load.groups.first.size());
    const unsigned registers = groups * load.groups.access.elements() * bytes / 4;
    if (load.through_lds()) {
      const unsigned read_bases = load.image->transposes() ? 8 : 2;
      (has_columns(pipeline, *load.op) ? demand.direct : demand.from_lds) += registers;
      demand.copies += load.copy_count();
      demand.addresses += load.copy_count() + read_bases;
      demand.lds_bytes += load.image->bytes();
    } else {
      demand.direct += registers;
      demand.loads += groups;
      demand.addresses += groups;
    }
  }
  for (const DotAccumulator &accumulator : pipeline.loop.accumulators) {
    demand.accumulators += layouts_.dots.at(accumulator.dots.front()).result.registers();
    for (const ir::Op *dot : accumulator.dots) {
      const DotPlan &plan = layouts_.dots.at(dot);
      demand.instructions += plan.a.row_tiles() * plan.b.row_tiles() * plan.k_instructions;
      demand.row_tiles = std::gcd(demand.row_tiles, plan.a.row_tiles());
    }
  }
  return demand;
}

Decision<LdsPipeline> Planner::plan(StreamingLoop loop) const {
  const ir::Op &op = *loop.op;
  if (layouts_.wave_split.contains(op.blocks.front()))
    return Objection{&op, "its iterations are split over the waves"};
  if (std::optional<Objection> objection = check_accumulators(loop))
    return *objection;
  LdsPipeline pipeline{std::move(loop), {}, {}, {}, DepthLimit::Asked};
  for (const StreamedLoad &streamed : pipeline.loop.loads) {
    Decision<PipelinedLoad> found = plan_pipelined_load(index_, axes_, layouts_, streamed);
    if (!found)
      return found.objection();
    pipeline.loads.push_back(std::move(*found));
  }
  if (std::none_of(pipeline.loads.begin(), pipeline.loads.end(),
                   [](const PipelinedLoad &load) { return load.through_lds(); }))
    return Objection{&op, "none of its operands gains by going through LDS"};
  pipeline.demand = demand_of(pipeline);
  const ScheduleChoice choice =
      choose_schedule(pipeline.demand, static_cast<unsigned>(pipeline.loop.stages), waves_of_a_simd());
  if (!choice.schedule)
    return Objection{&op, fmt::format("two stages do not fit: {}", text_of(choice.limit))};
  pipeline.schedule = *choice.schedule;
  pipeline.limit = choice.limit;
  return pipeline;
}

} // namespace

size_t LdsPipeline::number_of(const ir::Op &load) const {
  auto found =
      std::find_if(loads.begin(), loads.end(), [&](const PipelinedLoad &l) { return l.op == &load; });
  return static_cast<size_t>(found - loads.begin());
}

Decision<LdsPipeline> plan_lds_pipeline(const FunctionIndex &index, const AxisAnalysis &axes,
                                        const LayoutChoice &layouts, StreamingLoop loop) {
  return Planner(index, axes, layouts).plan(std::move(loop));
}

} // namespace nereid::codegen
