// An LDS pipeline from its plan: the main loop, and the iterations in which masks differ between elements.
#include <algorithm>

#include "codegen/lds_pipeline/main_loop.h"
#include "codegen/lds_pipeline/remainder.h"

namespace nereid::codegen {
namespace {

/// By chunk, the groups that its matrix instructions are the first ones to need from LDS.
std::vector<std::vector<LoadGroup>> chunk_reads(const PipelineState &state) {
  std::vector<std::vector<bool>> seen;
  for (const PipelinedLoad &load : state.pipeline.loads)
    seen.emplace_back(load.groups.first.size(), !load.through_lds());
  std::vector<std::vector<LoadGroup>> reads(state.chunks.size());
  for (size_t chunk = 0; chunk < state.chunks.size(); ++chunk)
    for (const MmaStep &step : state.chunks[chunk]) {
      std::vector<LoadGroup> groups;
      state.iteration.append_groups(step, groups);
      for (LoadGroup group : groups)
        if (!seen[group.load][group.group]) {
          seen[group.load][group.group] = true;
          reads[chunk].push_back(group);
        }
    }
  return reads;
}

/// For whoever checks the machine code.
void note_contracts(const PipelineState &state) {
  const LdsPipeline &pipeline = state.pipeline;
  const bool one_wave = state.lowering.context.function().options.waves == 1;
  for (size_t i = 0; i < pipeline.loads.size(); ++i) {
    const PipelinedLoad &load = pipeline.loads[i];
    if (!load.through_lds())
      continue;
    unsigned reads = 0;
    for (const std::vector<LoadGroup> &groups : state.chunk_reads)
      reads += static_cast<unsigned>(
          std::count_if(groups.begin(), groups.end(), [&](LoadGroup group) { return group.load == i; }));
    const unsigned line = state.lowering.context.plan.index.line(*load.op);
    const auto copies = static_cast<unsigned>(load.copies.first.size());
    reads *= load.image->reads_of_group();
    std::vector<PipelineContract> &contracts = state.lowering.contracts;
    contracts.push_back({line, CodeTag::Pipeline, copies, reads, state.schedule.buffers, one_wave});
    if (!pipeline.loop.conditions.empty())
      contracts.push_back({line, CodeTag::Remainder, copies, reads, 1, one_wave});
  }
}

} // namespace

void emit_lds_pipeline(Lowering &parts, const LdsPipeline &pipeline) {
  PipelineState state(parts, pipeline);
  if (!state.iteration.is_clonable())
    parts.context.fail(state.loop, "the body of an LDS pipeline has effects",
                       "this is a defect of Nereid; please report it with the kernel");
  state.chunk_reads = chunk_reads(state);
  note_contracts(state);
  for (const PipelinedLoad &load : pipeline.loads)
    parts.order.before(*load.op);
  if (state.is_nested())
    parts.order.barrier(); // iterations of the loop around it may still read what is copied now
  parts.context.set_line(state.loop);
  count_iterations(state);
  RegionCache::Scope region(parts.cache);
  state.lower_scalars(state.count.first);
  state.memory.emit_addresses();
  state.iteration.clone_invariants();
  Accumulators accumulators(state);
  accumulators.start();
  MainLoopEmitter(state, accumulators).emit();
  if (!pipeline.loop.conditions.empty())
    emit_remainder(state, accumulators);
  accumulators.define_results();
}

} // namespace nereid::codegen
