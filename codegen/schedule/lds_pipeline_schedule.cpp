#include "codegen/schedule/lds_pipeline_schedule.h"

#include <algorithm>

namespace nereid::codegen {

namespace {

constexpr unsigned vgprs = 256;
constexpr unsigned register_file = 512;     ///< of a SIMD's lane, AGPRs included
constexpr unsigned reserve = 10;            ///< for what the scheduler has in flight
constexpr unsigned max_chunks_in_vgprs = 4; ///< beyond, sums in AGPRs cost less than the waits
constexpr unsigned crowded = 240;           ///< AGPRs that sums take
constexpr unsigned widest_staged = 96;      ///< registers of operands from LDS
constexpr unsigned max_group_barriers = 80; ///< matrix instructions of a stage; the scheduler's time grows

/// Registers besides the sums.
unsigned operands(const LdsPipelineDemand &demand, unsigned buffers, unsigned chunks) {
  return demand.direct * buffers + demand.staged * 2 / chunks + demand.addresses + reserve;
}

std::optional<LdsPipelineSchedule> fit(const LdsPipelineDemand &demand, unsigned buffers, unsigned waves) {
  unsigned room = std::min(register_file / waves, vgprs);
  unsigned first = buffers == 2 ? 2 : 1;
  auto search = [&](unsigned max_chunks, unsigned accumulators,
                    bool agprs) -> std::optional<LdsPipelineSchedule> {
    for (unsigned chunks = first; chunks <= std::min(max_chunks, demand.row_tiles); ++chunks)
      if (demand.row_tiles % chunks == 0 && demand.staged * 2 / chunks <= widest_staged &&
          accumulators + operands(demand, buffers, chunks) <= room)
        return LdsPipelineSchedule{buffers, chunks, agprs, true};
    return std::nullopt;
  };
  bool has_agprs = register_file / waves > vgprs;
  if (auto found = search(has_agprs ? max_chunks_in_vgprs : demand.row_tiles, demand.accumulators, false))
    return found;
  if (!has_agprs || demand.accumulators > vgprs)
    return std::nullopt;
  // Where they take nearly all AGPRs, many chunks make LLVM move sums about.
  return search(demand.accumulators > crowded ? 2 : demand.row_tiles, 0, true);
}

} // namespace

unsigned LdsPipelineSchedule::outstanding_at_barrier(const LdsPipelineDemand &demand,
                                                     unsigned missing) const {
  unsigned stage = demand.copies + demand.loads;
  unsigned stages = buffers - 2;
  if (missing > 0)
    return (stages > missing - 1 ? stages - (missing - 1) : 0) * stage;
  return stages * stage + (chunks > 1 ? demand.loads : 0);
}

std::optional<LdsPipelineSchedule> choose_schedule(const LdsPipelineDemand &demand, unsigned stages,
                                                   unsigned waves, unsigned lds_limit) {
  constexpr unsigned max_buffers = 4, max_outstanding = 62;
  for (unsigned buffers = std::min(stages, max_buffers); buffers >= 2; --buffers) {
    if (buffers * demand.lds_bytes > lds_limit)
      continue;
    std::optional<LdsPipelineSchedule> schedule = fit(demand, buffers, waves);
    if (!schedule || (buffers - 1) * (demand.copies + demand.loads) > max_outstanding)
      continue;
    schedule->group_barriers = demand.instructions <= max_group_barriers;
    return schedule;
  }
  return std::nullopt;
}

} // namespace nereid::codegen
