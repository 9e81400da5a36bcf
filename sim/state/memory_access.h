#pragma once

#include <array>
#include <cstdint>

#include "sim/state/wave.h"

namespace nereid::sim {

/// What one memory instruction touches, lane by lane. Handlers find all addresses first, hand them to the
/// run's checker, and then move the data. An instruction that touches two places a lane (ds_read2) or several
/// spaces (FLAT, loads to LDS) gives several of these. A scalar load is an access of lane 0.
struct MemoryAccess {
  enum class Space : uint8_t { Global, Lds, Scratch };
  enum class Kind : uint8_t { Load, Store, Atomic };

  Space space = Space::Global;
  Kind kind = Kind::Load;
  uint8_t bytes = 0;    ///< at the place of each lane: 1 to 16, of scalar loads up to 64
  bool to_lds = false;  ///< one half of a load to LDS: the global load, or the LDS store that comes later
  bool partial = false; ///< `dwords` holds: of some lanes a descriptor's range check drops the last dwords
  uint64_t lanes = 0;   ///< that touch memory
  /// Global: device address. Lds: byte of the workgroup's LDS. Scratch: byte of the lane's private memory.
  std::array<uint64_t, lane_count> address;
  std::array<uint8_t, lane_count> dwords; ///< bit k: bytes 4k to 4k + 3 are in range

  bool touches(unsigned lane) const { return lanes >> lane & 1; }
  bool reads() const { return kind != Kind::Store; }
  bool writes() const { return kind != Kind::Load; }
};

} // namespace nereid::sim
