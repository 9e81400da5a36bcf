#pragma once

#include <optional>

#include "codegen/analysis/axis_info.h"
#include "codegen/analysis/value_ranges.h"

namespace nereid::codegen {

/// The mask "first + row < bound" of a row-major tile whose rows lie apart by at least their length: what it
/// removes are the bytes of the tile's first element's address plus (bound - first) * pitch and all behind
/// them. A buffer descriptor that ends there takes its place.
struct RowBound {
  ir::ValueId first, bound;          ///< scalars, i32; their difference does not overflow
  bool inclusive;                    ///< <= instead of <
  int64_t rows;                      ///< of the tile
  std::optional<ir::ValueId> factor; ///< of the pitch; i32 or i64
  int64_t pitch;                     ///< bytes, times `factor`
};

/// Of a load with a mask; nothing where its mask or its addresses are not of that form.
std::optional<RowBound> row_bound(const FunctionIndex &index, const AxisAnalysis &axes,
                                  const ValueRanges &ranges, const ir::Op &load);

} // namespace nereid::codegen
