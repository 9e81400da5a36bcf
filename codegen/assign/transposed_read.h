#pragma once

#include <optional>

#include "codegen/analysis/axis_info.h"
#include "codegen/layout/linear_layout.h"

namespace nereid::codegen {

/// Transposing LDS reads (ds_read_b64_tr_b16 and _tr_b8; CDNA4 ISA, "LDS transpose loads"): of a row-major
/// tile each 16 lanes read rows of 16 neighbours, 8 bytes a lane, and each lane receives a column of them.
struct TransposedRead {
  static constexpr unsigned bytes = 8; ///< of a lane in one read

  /// Where the lanes read: what the lowest registers and lanes of the tile's layout hold is exchanged.
  LinearLayout source;
  unsigned log2_elements; ///< of one read; the lowest registers
};

/// How a matrix whose rows are contiguous comes into `layout` by reads of LDS. Nothing where a lane does not
/// hold 16 bytes of a column in its lowest registers, 16 lanes side by side in a row, or where elements have
/// more than 2 bytes.
std::optional<TransposedRead> transposed_read(const LinearLayout &layout, unsigned element_bytes);

/// Whether `layout` is one for transposing reads: a load would move single elements in it, less than a dword
/// at a time, and 16 bytes along memory.
bool wants_transposed_reads(const ir::Function &function, const AxisAnalysis &axes, const ir::Op &load,
                            const LinearLayout &layout);

} // namespace nereid::codegen
