#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace nereid::codegen {

/// What a wave needs for one stage of a staged loop.
struct LdsPipelineDemand {
  unsigned accumulators = 0; ///< registers of all sums
  unsigned direct = 0;       ///< registers of operands and scales that are loaded straight
  unsigned staged = 0;       ///< registers of operands that are read from LDS
  unsigned row_tiles = 0;    ///< tiles of rows of a product: what the stage may be cut into
  unsigned addresses = 0;    ///< registers of addresses
  unsigned copies = 0;       ///< copies to LDS
  unsigned loads = 0;        ///< loads to registers
  unsigned lds_bytes = 0;    ///< of one buffer
  unsigned instructions = 0; ///< matrix instructions
};

/// A stage is cut into chunks of rows; LDS is read a chunk ahead, loads to registers are issued
/// `buffers` - 1 stages ahead, copies to LDS `buffers` stages ahead. A round of the loop is `buffers` stages.
struct LdsPipelineSchedule {
  unsigned buffers = 2;
  unsigned chunks = 1;
  bool accumulators_in_agprs = false;
  /// Order by group barriers (the scheduler places), else by barriers between pairs of instructions.
  bool group_barriers = true;

  unsigned load_distance() const { return buffers - 1; }
  /// Vector memory instructions younger than the copies that the sync of a stage waits for: those of
  /// `buffers` - 2 stages and, where the sync stands at the last of several chunks, the stage's loads.
  /// `missing`: stages that issued nothing any more.
  unsigned outstanding_at_barrier(const LdsPipelineDemand &demand, unsigned missing = 0) const;
};

/// The deepest pipeline, up to `stages` buffers, that fits the registers of a lane and the LDS. Nothing if
/// not even two buffers do. `waves`: on one SIMD.
std::optional<LdsPipelineSchedule> choose_schedule(const LdsPipelineDemand &demand, unsigned stages,
                                                   unsigned waves, unsigned lds_limit);

} // namespace nereid::codegen
