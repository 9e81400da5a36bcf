// The bytes of LDS that a load to LDS is still to write, as sorted ranges.

#include "sim/checks/lds_footprint.h"

#include <algorithm>
#include <bit>

namespace nereid::sim {

LdsFootprint::LdsFootprint(const MemoryAccess &access) {
  for (uint64_t lanes = access.lanes; lanes; lanes &= lanes - 1) {
    const auto begin = static_cast<uint32_t>(access.address[std::countr_zero(lanes)]);
    const uint32_t end = begin + access.bytes;
    if (!pieces_.empty() && pieces_.back().end == begin)
      pieces_.back().end = end;
    else
      pieces_.push_back({begin, end});
    begin_ = std::min(begin_, begin);
    end_ = std::max(end_, end);
  }
}

std::optional<unsigned> LdsFootprint::touched_by(const MemoryAccess &access) const {
  for (uint64_t lanes = access.lanes; lanes; lanes &= lanes - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
    const uint64_t begin = access.address[lane], end = begin + access.bytes;
    if (begin >= end_ || end <= begin_)
      continue;
    for (const Piece &piece : pieces_)
      if (begin < piece.end && piece.begin < end)
        return lane;
  }
  return std::nullopt;
}

} // namespace nereid::sim
