#pragma once

#include <map>

#include "codegen/layout/linear_layout.h"

namespace nereid::codegen {

/// Who holds an element: of all positions the first (by wave, lane, register), and how many there are.
struct Holders {
  Position first;
  unsigned count = 0;
};

/// By the coordinates of the element; elements that nobody holds are not there.
std::map<Coordinates, Holders> find_holders(const LinearLayout &layout);

} // namespace nereid::codegen
