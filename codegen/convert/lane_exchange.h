#pragma once

#include <optional>
#include <vector>

#include "codegen/convert/convert_plan.h"

namespace nereid::codegen {

/// Where a position of the wanted layout finds its element inside the same wave: source register and source
/// lane as linear functions of the (register, lane, wave) bits wanted. Odd repeats are left out.
struct WaveLocalMap {
  BitMatrix register_from; ///< columns: register bits, lane bits, wave bits; rows: source register bits
  BitMatrix lane_from;     ///< rows: source lane bits
  unsigned registers = 0;  ///< bits wanted
  unsigned lanes = 0;
  unsigned waves = 0;

  /// The same lane's register, the same for all lanes and waves.
  bool is_renaming() const;
};

/// Finds the nearest source of every element: the lane itself if it holds one, else a lane of the wave.
/// Nothing if some element is in another wave only. Register bits of both layouts are independent (no
/// register broadcast).
std::optional<WaveLocalMap> wave_local_map(const LinearLayout &from, const LinearLayout &to);

/// Steps that carry out a map on registers that are numbered by the source's register bits, repeats above
/// them; their result is numbered by the wanted register bits, the same repeats above. `repeats`: how many.
std::vector<ConversionStep> lane_steps(const WaveLocalMap &map, uint32_t repeats, unsigned element_bits);

} // namespace nereid::codegen
