// How deep an LDS pipeline is, and into how many chunks its stages are cut.
#include "codegen/schedule/lds_pipeline_schedule.h"

#include <algorithm>

namespace nereid::codegen {

namespace {

// Facts of gfx950 (AMD CDNA4 ISA guide): vector registers that instructions can name, registers of a SIMD's
// lane with AGPRs, and the largest count but one of outstanding vector memory instructions.
constexpr unsigned vgprs = 256;
constexpr unsigned register_file = 512;
constexpr unsigned max_outstanding = 62; // s_waitcnt's 63 means no wait

// Tuning constants for the code that LLVM 22.1 makes of such loops.
constexpr unsigned max_buffers = 4;         // the loop is unrolled as often
constexpr unsigned reserve = 10;            // registers for what the scheduler has in flight
constexpr unsigned max_chunks_in_vgprs = 4; // beyond, accumulators in AGPRs cost less than the waits
constexpr unsigned crowded_agprs = 240;     // of which accumulators leave LLVM none to move others through
constexpr unsigned max_from_lds = 96;       // registers of operands that are read from LDS at a time
constexpr unsigned max_group_barriers = 80; // matrix instructions of a stage; the scheduler's time grows

/// Registers besides the accumulators.
unsigned operands(const LdsPipelineDemand &demand, unsigned buffers, unsigned chunks) {
  return demand.direct * buffers + demand.from_lds * 2 / chunks + demand.addresses + reserve;
}

std::optional<LdsPipelineSchedule> fit(const LdsPipelineDemand &demand, unsigned buffers, unsigned waves) {
  const unsigned room = std::min(register_file / waves, vgprs);
  const unsigned min_chunks = buffers == 2 ? 2 : 1;
  const auto search = [&](unsigned max_chunks, unsigned accumulators,
                          bool agprs) -> std::optional<LdsPipelineSchedule> {
    for (unsigned chunks = min_chunks; chunks <= std::min(max_chunks, demand.row_tiles); ++chunks)
      if (demand.row_tiles % chunks == 0 && demand.from_lds * 2 / chunks <= max_from_lds &&
          accumulators + operands(demand, buffers, chunks) <= room)
        return LdsPipelineSchedule{buffers, chunks, agprs, true};
    return std::nullopt;
  };
  const bool has_agprs = register_file / waves > vgprs;
  if (auto found = search(has_agprs ? max_chunks_in_vgprs : demand.row_tiles, demand.accumulators, false))
    return found;
  if (!has_agprs || demand.accumulators > vgprs)
    return std::nullopt;
  // Where they take nearly all AGPRs, many chunks make LLVM move accumulators about.
  return search(demand.accumulators > crowded_agprs ? 2 : demand.row_tiles, 0, true);
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

ScheduleChoice choose_schedule(const LdsPipelineDemand &demand, unsigned stages, unsigned waves,
                               unsigned lds_limit) {
  DepthLimit limit = stages > max_buffers ? DepthLimit::Buffers : DepthLimit::Asked;
  for (unsigned buffers = std::min(stages, max_buffers); buffers >= 2; --buffers) {
    const std::optional<LdsPipelineSchedule> fitting = fit(demand, buffers, waves);
    if (buffers * demand.lds_bytes > lds_limit) {
      limit = DepthLimit::Lds;
    } else if (!fitting) {
      limit = DepthLimit::Registers;
    } else if ((buffers - 1) * (demand.copies + demand.loads) > max_outstanding) {
      limit = DepthLimit::Outstanding;
    } else {
      LdsPipelineSchedule schedule = *fitting;
      schedule.group_barriers = demand.instructions <= max_group_barriers;
      return {schedule, limit};
    }
  }
  return {std::nullopt, limit};
}

} // namespace nereid::codegen
