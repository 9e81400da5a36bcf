// The inverse of a layout: from elements to positions.
#include "codegen/layout/layout_holders.h"

namespace nereid::codegen {

std::map<Coordinates, Holders> find_holders(const LinearLayout &layout) {
  std::map<Coordinates, Holders> holders;
  for (uint32_t wave = 0; wave < layout.waves(); ++wave)
    for (uint32_t lane = 0; lane < layout.lanes(); ++lane)
      for (uint32_t reg = 0; reg < layout.registers(); ++reg) {
        Holders &h = holders[layout.apply({reg, lane, wave})];
        if (h.count++ == 0)
          h.first = {reg, lane, wave};
      }
  return holders;
}

} // namespace nereid::codegen
