#pragma once

#include <string_view>

#include "base/result.h"
#include "codegen/layout/linear_layout.h"

namespace nereid::codegen {

/// Reads a layout as LinearLayout::text() writes it: "[16, 32] register: (0,1) lane: (1,0) 0; register x3
/// along 0". Errors (User): another form, bases that leave the tile, more than 2^20 positions.
Result<LinearLayout> parse_layout(std::string_view text);

} // namespace nereid::codegen
