// The bank model: phases as tables, clocks by counting.
#include "codegen/convert/lds_banks.h"

#include <algorithm>
#include <map>
#include <set>

#include "codegen/layout/layout_error.h"

namespace nereid::codegen {

const LdsPhase &lds_phase(LdsDirection direction, unsigned bytes) {
  // 16-byte reads serve the lanes with an even number of ones in bits 2..4 of a half wave, then the odd ones.
  static const LdsPhase read16 = {{0b00001, 0b00010, 0b01100, 0b11000}, 6};
  static const LdsPhase read8 = {{1, 2, 4, 8, 16}, 6};
  static const LdsPhase read4 = {{1, 2, 4, 8, 16, 32}, 6};
  static const LdsPhase write16 = {{1, 2, 4}, 5};
  static const LdsPhase write8 = {{1, 2, 4, 8}, 5};
  static const LdsPhase write4 = {{1, 2, 4, 8, 16}, 5};
  const bool read = direction == LdsDirection::Read;
  if (bytes == 16)
    return read ? read16 : write16;
  if (bytes == 8)
    return read ? read8 : write8;
  require_layout(bytes == 4 || bytes == 2 || bytes == 1, "an access is no power of two");
  return read ? read4 : write4;
}

unsigned lds_clocks(LdsDirection direction, unsigned bytes, const std::vector<uint32_t> &addresses) {
  const LdsPhase &phase = lds_phase(direction, bytes);
  const uint32_t lanes = static_cast<uint32_t>(addresses.size());
  std::vector<bool> served(lanes, false);
  unsigned clocks = 0;
  for (uint32_t first = 0; first < lanes; ++first) {
    if (served[first])
      continue;
    std::map<uint32_t, std::set<uint32_t>> words_of_bank;
    for (uint32_t subset = 0; subset < 1u << phase.lanes.size(); ++subset) {
      uint32_t lane = first;
      for (size_t i = 0; i < phase.lanes.size(); ++i)
        if (subset >> i & 1)
          lane ^= phase.lanes[i];
      if (lane >= lanes)
        continue;
      served[lane] = true;
      for (uint32_t byte = 0; byte < bytes; byte += 4) {
        const uint32_t word = (addresses[lane] + byte) / 4;
        words_of_bank[word & ((1u << phase.bank_bits) - 1)].insert(word);
      }
    }
    size_t max_words = 0;
    for (const auto &[bank, words] : words_of_bank)
      max_words = std::max(max_words, words.size());
    clocks += static_cast<unsigned>(max_words);
  }
  return clocks;
}

} // namespace nereid::codegen
