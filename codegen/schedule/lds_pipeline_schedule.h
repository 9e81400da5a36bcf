#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace nereid::codegen {

/// What a wave needs for one stage of an LDS pipeline.
struct LdsPipelineDemand {
  unsigned accumulators = 0; ///< registers of all accumulators
  unsigned direct = 0;       ///< registers of operands and scales that are loaded straight, and of columns
  unsigned from_lds = 0;     ///< registers of operands that are read from LDS
  unsigned row_tiles = 0;    ///< tiles of rows of a dot: what the stage may be cut into
  unsigned addresses = 0;    ///< registers of addresses
  unsigned copies = 0;       ///< async copies to LDS
  unsigned loads = 0;        ///< loads to registers
  unsigned lds_bytes = 0;    ///< of one buffer
  unsigned instructions = 0; ///< matrix instructions
};

/// A stage is cut into chunks of rows; LDS is read a chunk ahead, loads to registers are issued
/// `buffers` - 1 stages ahead, async copies `buffers` stages ahead. The loop is unrolled `buffers` times.
struct LdsPipelineSchedule {
  unsigned buffers = 2;
  unsigned chunks = 1;
  bool accumulators_in_agprs = false;
  /// Order by group barriers (sched_group_barrier), else by scheduling barriers between pairs of
  /// instructions.
  bool group_barriers = true;

  unsigned load_distance() const { return buffers - 1; }
  /// Vector memory instructions that may be outstanding when the barrier of a stage's wait is passed: those
  /// of `buffers` - 2 stages and, where the wait stands at the last of several chunks, the stage's loads.
  /// `missing`: stages that issued nothing any more.
  unsigned outstanding_at_barrier(const LdsPipelineDemand &demand, unsigned missing = 0) const;
};

/// Why a pipeline has not one buffer more.
enum class DepthLimit {
  Asked,       ///< it has as many as its loop asks for
  Buffers,     ///< the maximum that is emitted
  Lds,         ///< bytes of LDS
  Registers,   ///< of a lane
  Outstanding, ///< the counter of outstanding vector memory instructions
};

/// As the reason in a sentence: "a lane has too few registers".
std::string_view text_of(DepthLimit limit);

struct ScheduleChoice {
  std::optional<LdsPipelineSchedule> schedule; ///< nothing: not even two buffers fit
  DepthLimit limit;
};

/// The deepest pipeline, up to `stages` buffers, that fits the registers of a lane and the LDS. `waves`: on
/// one SIMD.
ScheduleChoice choose_schedule(const LdsPipelineDemand &demand, unsigned stages, unsigned waves);

} // namespace nereid::codegen
