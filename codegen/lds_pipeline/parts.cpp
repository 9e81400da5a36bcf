// The instructions of a stage of an LDS pipeline as data, in their order.
#include "codegen/lds_pipeline/parts.h"

#include <algorithm>

namespace nereid::codegen {

namespace {

std::vector<const ir::Op *> dots_of(const ir::Block &body) {
  std::vector<const ir::Op *> dots;
  for (const ir::Op &op : body.ops)
    if (ir::is_dot(op.opcode))
      dots.push_back(&op);
  return dots;
}

void append_steps(std::vector<MmaStep> &steps, const DotPlan &plan, MmaStep step, unsigned first_row,
                  unsigned rows) {
  const unsigned columns = plan.b.row_tiles(), last_row = first_row + rows;
  for (step.k = 0; step.k < plan.k_instructions; ++step.k)
    for (unsigned n_pair = 0; n_pair < columns; n_pair += 2)
      for (unsigned m_pair = first_row; m_pair < last_row; m_pair += 2)
        for (step.n = n_pair; step.n < std::min(n_pair + 2, columns); ++step.n)
          for (step.m = m_pair; step.m < std::min(m_pair + 2, last_row); ++step.m)
            steps.push_back(step);
}

} // namespace

std::vector<std::vector<MmaStep>> mma_chunks(const LdsPipeline &pipeline, const LayoutChoice &layouts) {
  const std::vector<const ir::Op *> dots = dots_of(pipeline.loop.op->blocks.front());
  const std::vector<DotAccumulator> &accumulators = pipeline.loop.accumulators;
  std::vector<std::vector<MmaStep>> chunks;
  for (size_t accumulator = 0; accumulator < accumulators.size(); ++accumulator)
    for (const ir::Op *dot : accumulators[accumulator].dots) {
      const auto number = static_cast<size_t>(std::find(dots.begin(), dots.end(), dot) - dots.begin());
      const DotPlan &plan = layouts.dots.at(dot);
      const unsigned rows = plan.a.row_tiles() / pipeline.schedule.chunks;
      for (unsigned chunk = 0; chunk < pipeline.schedule.chunks; ++chunk)
        append_steps(chunks.emplace_back(), plan, {number, accumulator, 0, 0, 0}, chunk * rows, rows);
    }
  return chunks;
}

std::vector<LoadGroup> direct_groups(const LdsPipeline &pipeline) {
  std::vector<LoadGroup> groups;
  for (size_t load = 0; load < pipeline.loads.size(); ++load)
    for (size_t group = 0;
         !pipeline.loads[load].through_lds() && group < pipeline.loads[load].groups.first.size(); ++group)
      groups.push_back({load, group});
  return groups;
}

} // namespace nereid::codegen
