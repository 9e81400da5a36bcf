#pragma once

#include <cstdint>
#include <vector>

/// The banks of gfx950's LDS as far as they are known: a model to choose layouts by, not to predict time.
namespace nereid::codegen {

enum class LdsDirection { Read, Write };

/// Which lanes an LDS access of 1, 2, 4, 8 or 16 bytes a lane serves together: the lanes of the subspace
/// spanned by `lanes`, then each of its cosets. A phase sees `banks` banks of 4 bytes.
struct LdsPhase {
  std::vector<uint32_t> lanes;
  unsigned bank_bits = 6;
};

/// Phases as measured for reads (HipKittens' conflict counters; independent latency measurements agree for
/// b64 and b128) and for 8-byte writes; other writes by analogy with gfx942 (8 lanes of 16 bytes, 32 banks).
const LdsPhase &lds_phase(LdsDirection direction, unsigned bytes);

/// Clocks of one access of a wave of 64 lanes: over its phases, the largest number of different words that
/// one bank must deliver. `addresses` are byte addresses, one a lane, aligned to `bytes`.
unsigned lds_clocks(LdsDirection direction, unsigned bytes, const std::vector<uint32_t> &addresses);

} // namespace nereid::codegen
