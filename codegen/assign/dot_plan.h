#pragma once

#include <optional>

#include "base/result.h"
#include "codegen/assign/dot_grid.h"
#include "codegen/assign/wave_tiling.h"
#include "codegen/layout/linear_layout.h"
#include "dsl/ir/function.h"

namespace nereid::codegen {

/// One operand of a dot as the matrix instruction wants it. Registers of a lane count, lowest first: the
/// elements of one instruction (1 << log2_elements of them), the instruction's number along K, the tile of
/// `size` rows; then the odd factor of K, then that of the rows.
struct DotOperandPlan {
  const OperandFacts *facts = nullptr;
  /// Of formats of 6 bits, which come through LDS, unset (rank 0); where an instruction of halves takes them,
  /// the layout of its runs of 8 values: [rows, K / 8].
  LinearLayout layout;
  /// Registers: number along K, tile of rows, odd factors as in `layout`; with DotPlan::scales_accumulators
  /// those of the result, then the group of 32 along K (DotPlan::sum_scale). Unset (rank 0) without a scale.
  LinearLayout scale_layout;
  unsigned log2_elements = 0;
  unsigned stored_dwords = 0; ///< of a lane for one instruction, in the tile's format
  unsigned dwords = 0;        ///< likewise, as the instruction takes them
  unsigned row_tile_bits = 0; ///< log2 of the tiles of rows that a wave holds, but for an odd factor
  unsigned row_tile_odd = 1;  ///< the outermost of them
  unsigned row_tiles() const { return row_tile_odd << row_tile_bits; }
  unsigned k_odd = 1;        ///< the outermost of the instructions along K
  unsigned padded_lanes = 0; ///< lanes with one of these bits set lie beyond K and must be fed zeros
  /// Lane bits, the lowest of which is k_lanes_from, of rows that the tile lacks: they hold the other steps
  /// along K. An operand of registers then serves 2^k_lane_bits instructions, which want zeros in the lanes
  /// of other steps.
  unsigned k_lane_bits = 0, k_lanes_from = 0;
};

/// How a dot runs: C^T = B^T A^T, so that a lane ends up with neighbours along N, which makes stores wide.
/// Its layouts are products: one instruction * its tiles in registers * the waves. Waves take tiles along N,
/// then along M, or (wave_split mn) where more tiles are left; to the rest of the waves all is broadcast.
struct DotPlan {
  const MfmaFacts *mfma = nullptr;
  DotOperandPlan a;
  DotOperandPlan b;
  LinearLayout result;         ///< registers: those of one instruction, tiles along N, tiles along M
  unsigned result_bits = 0;    ///< log2 of the instruction's result registers that the tile uses
  unsigned k_instructions = 1; ///< instructions along K that a wave runs, k_odd of `a` and `b` included
  /// Where the waves share K: the layout of each one's accumulators of the whole tile; `result` is the
  /// total's.
  std::optional<LinearLayout> partial;
  /// The instruction takes no scales: the partial dot of each group of 32 along K is multiplied by the scale
  /// of the side that has one.
  bool scales_accumulators = false;

  /// Instructions along K whose result has one scale.
  unsigned group_instructions() const { return static_cast<unsigned>(ir::scale_group / mfma->k()); }
  /// With scales_accumulators, the register of the scale of a result register and group.
  size_t sum_scale(size_t result_register, unsigned group) const;

  /// Number of the result's tile among a wave's: the registers of tile t begin at t << result_bits.
  unsigned tile(unsigned m, unsigned n) const;
};

struct DotSharing {
  DotOwner owner = DotOwner::Workgroup;
  /// Lanes of rows that A lacks take other steps along K.
  bool idle_rows_take_k = false;
  /// A lane takes neighbouring groups of 32 along K in up to four instructions that follow each other, so
  /// that their scales are one access; which groups meet in an instruction is free as long as both sides
  /// agree. Both sides are e2m1 with scales.
  bool neighbouring_groups = false;
  /// An instruction of 32 rows, where the shape allows it, whatever the kernel's option says.
  bool large_instruction = false;
};

/// Lanes whose rows A lacks take steps along K, and waves slices of it, only where both sides are
/// e2m1: zero times what the others hold is zero there. Errors: Nereid's, naming the formats that exist.
Result<DotPlan> plan_dot(const ir::Function &function, const ir::Op &op, DotSharing sharing = {});

} // namespace nereid::codegen
