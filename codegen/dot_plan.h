#pragma once

#include <optional>

#include "base/result.h"
#include "codegen/linear_layout.h"
#include "codegen/mfma_table.h"
#include "dsl/ir/function.h"

namespace nereid::codegen {

/// One operand of a dot as the matrix instruction wants it. Registers of a lane count, lowest first: the
/// elements of one instruction (1 << element_bits of them), the instruction's number along K, the tile of
/// `size` rows; an odd factor of the rows comes last.
struct DotOperandPlan {
  LinearLayout layout;
  LinearLayout scale_layout; ///< registers: number along K, tile of rows; unset (rank 0) without a scale
  unsigned element_bits = 0;
  unsigned row_tile_bits = 0; ///< tiles of rows that a wave holds, but for an odd factor
  unsigned row_tile_odd = 1;  ///< the outermost of them
  unsigned row_tiles() const { return row_tile_odd << row_tile_bits; }
  unsigned padded_lanes = 0; ///< lanes with one of these bits set lie beyond K and must be fed zeros
  /// Lane bits, the lowest of which is k_lanes_from, of rows that the tile lacks: they hold the other steps
  /// along K. An operand of registers then serves 2^k_lane_bits instructions, which want zeros in the lanes
  /// of other steps.
  unsigned k_lane_bits = 0, k_lanes_from = 0;
};

/// How a dot runs: C^T = B^T A^T, so that a lane ends up with neighbours along N, which makes stores wide.
/// Waves are dealt to the tiles along N, then along M, or (wave_split mn) where more tiles are left; what is
/// left of them holds copies.
struct DotPlan {
  const MfmaFacts *mfma = nullptr;
  DotOperandPlan a;
  DotOperandPlan b;
  LinearLayout result;         ///< registers: those of one instruction, tiles along N, tiles along M
  unsigned result_bits = 0;    ///< log2 of the instruction's result registers that the tile uses
  unsigned k_instructions = 1; ///< instructions along K that a wave runs
  /// Where the waves share K: how each holds its sum of the whole tile; `result` is that of the total.
  std::optional<LinearLayout> partial;

  /// Number of the result's tile among a wave's: the registers of tile t begin at t << result_bits.
  unsigned tile(unsigned m, unsigned n) const;
};

/// Where waves run rounds of a loop of their own, each holds the whole product. Slices: each wave takes a
/// part of K, if there are instructions for all.
enum class ProductOwner { Workgroup, Wave, Slices };

struct DotSharing {
  ProductOwner owner = ProductOwner::Workgroup;
  /// Lanes of rows that A lacks take other steps along K.
  bool idle_rows_take_k = false;
};

/// Errors: Nereid's, naming the formats that exist.
Result<DotPlan> plan_dot(const ir::Function &function, const ir::Op &op, DotSharing sharing = {});

} // namespace nereid::codegen
