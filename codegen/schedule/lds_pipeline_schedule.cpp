// How deep an LDS pipeline is, and into how many chunks its stages are cut.
#include "codegen/schedule/lds_pipeline_schedule.h"

#include <algorithm>

#include "codegen/target/cost_model.h"

namespace nereid::codegen {

namespace {

constexpr unsigned max_outstanding = gfx950::max_vmcnt - 1; ///< the largest wait that waits

/// Registers other than accumulators.
unsigned operands(const LdsPipelineDemand &demand, unsigned buffers, unsigned chunks) {
  return demand.direct * buffers + demand.from_lds * 2 / chunks + demand.addresses + cost::pipeline_reserve;
}

std::optional<LdsPipelineSchedule> fit(const LdsPipelineDemand &demand, unsigned buffers, unsigned waves) {
  const unsigned room = std::min(gfx950::registers_of_wave(waves), gfx950::vgprs);
  const unsigned min_chunks = buffers == 2 ? 2 : 1;
  const auto search = [&](unsigned max_chunks, unsigned accumulators,
                          bool agprs) -> std::optional<LdsPipelineSchedule> {
    for (unsigned chunks = min_chunks; chunks <= std::min(max_chunks, demand.row_tiles); ++chunks)
      if (demand.row_tiles % chunks == 0 && demand.from_lds * 2 / chunks <= cost::max_registers_from_lds &&
          accumulators + operands(demand, buffers, chunks) <= room)
        return LdsPipelineSchedule{buffers, chunks, agprs, true};
    return std::nullopt;
  };
  const bool has_agprs = gfx950::registers_of_wave(waves) > gfx950::vgprs;
  if (auto found =
          search(has_agprs ? cost::max_chunks_in_vgprs : demand.row_tiles, demand.accumulators, false))
    return found;
  if (!has_agprs || demand.accumulators > gfx950::agprs)
    return std::nullopt;
  // Where they take nearly all AGPRs, many chunks make LLVM move accumulators about.
  return search(demand.accumulators > cost::crowded_agprs ? 2 : demand.row_tiles, 0, true);
}

} // namespace

unsigned LdsPipelineSchedule::outstanding_at_barrier(const LdsPipelineDemand &demand,
                                                     unsigned missing) const {
  const unsigned stage = demand.copies + demand.loads;
  const unsigned stages = buffers - 2;
  if (missing > 0)
    return (stages > missing - 1 ? stages - (missing - 1) : 0) * stage;
  return stages * stage + (chunks > 1 ? demand.loads : 0);
}

std::string_view text_of(DepthLimit limit) {
  switch (limit) {
  case DepthLimit::Asked:
    return "its loop asks for no more";
  case DepthLimit::Buffers:
    return "no more than 4 buffers are used";
  case DepthLimit::Lds:
    return "the buffers exceed a workgroup's LDS";
  case DepthLimit::Registers:
    return "accumulators and operands in flight exceed a lane's registers";
  case DepthLimit::Outstanding:
    return "more vector memory instructions would be outstanding than are counted";
  }
  return "";
}

ScheduleChoice choose_schedule(const LdsPipelineDemand &demand, unsigned stages, unsigned waves) {
  DepthLimit limit = stages > cost::max_pipeline_buffers ? DepthLimit::Buffers : DepthLimit::Asked;
  for (unsigned buffers = std::min(stages, cost::max_pipeline_buffers); buffers >= 2; --buffers) {
    const std::optional<LdsPipelineSchedule> fitting = fit(demand, buffers, waves);
    if (buffers * demand.lds_bytes > gfx950::lds_bytes) {
      limit = DepthLimit::Lds;
    } else if (!fitting) {
      limit = DepthLimit::Registers;
    } else if ((buffers - 1) * (demand.copies + demand.loads) > max_outstanding) {
      limit = DepthLimit::Outstanding;
    } else {
      LdsPipelineSchedule schedule = *fitting;
      schedule.group_barriers = demand.instructions <= cost::max_grouped_instructions;
      return {schedule, limit};
    }
  }
  return {std::nullopt, limit};
}

} // namespace nereid::codegen
