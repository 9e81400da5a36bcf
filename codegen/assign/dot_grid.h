#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codegen/assign/mfma_table.h"
#include "codegen/layout/linear_layout.h"
#include "dsl/ir/function.h"

namespace nereid::codegen {

/// One side of a dot or dot_scaled.
struct DotSide {
  ir::ValueId value;
  std::optional<ir::ValueId> scale;
  SideFormat format;
};

struct DotSides {
  DotSide a, b;
  /// The values and the scales, where a side has them.
  std::vector<ir::ValueId> operands() const;
};

DotSides sides_of_dot(const ir::Function &function, const ir::Op &op);

/// One side of a dot as [rows, K]: A, or B turned.
struct GridSide {
  DotSide operand;
  std::string_view dims; ///< "mk" or "nk"
  ir::Shape shape;       ///< of the tile
  const OperandFacts *facts = nullptr;
  LinearLayout instruction = {}; ///< of the values of one instruction, [size, K]
};

/// A dot as a grid of instructions.
struct DotGrid {
  const ir::Function &function;
  GridSide a, b;
  const MfmaFacts *mfma = nullptr;
  Dimension m = {}, n = {}, k = {}; ///< instructions along each dimension
  unsigned wave_bits = 0;           ///< log2 of the waves
};

/// Instructions of `step` values along a dimension.
Dimension instructions_along(int64_t size, int64_t step);

/// An instruction of 32 rows, where it is wished for (`large`), needs multiples of 32 rows and columns; other
/// dots take one of 16. Errors: Nereid's, naming the formats that exist.
Result<DotGrid> dot_grid(const ir::Function &function, const ir::Op &op, bool large);

} // namespace nereid::codegen
