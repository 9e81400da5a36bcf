#pragma once

#include <cstdint>
#include <vector>

namespace nereid::sim {

/// Consecutive registers: vector registers with the accumulation registers from 256 on, or scalar registers
/// by the numbers that instructions encode (VCC 106, M0 124, EXEC 126).
struct RegisterRange {
  uint16_t first = 0;
  uint8_t count = 0; ///< words
  bool vector = false;

  bool operator==(const RegisterRange &) const = default;
};

/// Which registers an instruction reads and writes, its implicit ones (VCC, M0, EXEC) among them; EXEC as the
/// mask of active lanes is not listed. A destination of which a part is kept is also read.
struct Effects {
  std::vector<RegisterRange> reads;
  std::vector<RegisterRange> writes;
  bool reads_scc = false;
  bool writes_scc = false;
};

} // namespace nereid::sim
