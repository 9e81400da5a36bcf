#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "sim/state/memory_access.h"

namespace nereid::sim {

/// The bytes of LDS that an instruction touches.
class LdsFootprint {
public:
  struct Piece {
    uint32_t begin, end;
  };

  /// Lanes that follow each other in memory become one piece.
  explicit LdsFootprint(const MemoryAccess &access);

  const std::vector<Piece> &pieces() const { return pieces_; }
  /// A lane of an access to LDS that touches one of the bytes.
  std::optional<unsigned> touched_by(const MemoryAccess &access) const;

private:
  uint32_t begin_ = std::numeric_limits<uint32_t>::max(), end_ = 0;
  std::vector<Piece> pieces_;
};

} // namespace nereid::sim
