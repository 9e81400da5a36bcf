#pragma once

#include <string>

#include "codegen/layout/linear_layout.h"

namespace nereid::codegen {

/// Tables that a drawing shows at most: one for each position of the dimensions before the last two.
constexpr uint32_t most_drawn_tables = 4;

struct DrawingOptions {
  unsigned rows = 16;   ///< of the second to last dimension; what is left out is marked
  unsigned columns = 8; ///< of the last dimension
};

/// A table for people: who holds each element. Rows and columns are the last two dimensions (one row for rank
/// 1); the other dimensions give a table each, the first `most_drawn_tables` of them. A cell says "w1 l17 r3"
/// (wave, lane, register; spaces with one position are left out), with "x4" after it where 4 positions hold
/// the element,
/// "-" where none does.
std::string draw(const LinearLayout &layout, const DrawingOptions &options = {});

} // namespace nereid::codegen
