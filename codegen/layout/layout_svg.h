#pragma once

#include <string>

#include "codegen/layout/layout_drawing.h"

namespace nereid::codegen {

/// A standalone SVG of a layout: a cell an element, with wave, lane and register of its first holder ("w1 l17
/// r3", "x4" where 4 positions hold it), coloured by the lane. Rows and columns are the last two dimensions;
/// the other dimensions give a table each, one below the other, the first 4 of them. A note says what is left
/// out.
std::string draw_svg(const LinearLayout &layout, const DrawingOptions &options = {.rows = 64, .columns = 64});

} // namespace nereid::codegen
