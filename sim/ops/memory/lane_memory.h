#pragma once

#include <cstddef>

#include "sim/ops/memory/vector_memory.h"
#include "sim/state/lane_mask.h"
#include "sim/state/memory_access.h"

namespace nereid::sim {

/// Where the bytes of each lane lie on the host; set for the lanes that touch memory.
struct LanePointers {
  std::array<std::byte *, lane_count> at;
};

/// Checks that the lanes' addresses are multiples of `alignment` and inside their memory, and finds their
/// bytes. Of a lane that a descriptor's range check cuts short (`partial`), what is left has to be inside.
/// `what` names the access in the text of the fault, which the lowest bad lane gets. False after a fault.
bool locate(Wave &wave, const MemoryAccess &access, unsigned alignment, const char *what, LanePointers &out);

/// Shows a located access to the run's checker. False after a fault.
inline bool shown(Wave &wave, const Instruction &instruction, const MemoryAccess &access) {
  return !wave.checker || wave.show(instruction, access);
}

/// Moves what the lanes load into the registers from `first` on. Their bytes must not be registers.
void load_lanes(Wave &wave, unsigned first, const ElementForm &element, uint64_t lanes,
                const LanePointers &from);

/// Moves what the lanes store out of the registers from `first` on; where lanes overlap the highest one wins.
void store_lanes(const Wave &wave, unsigned first, const ElementForm &element, uint64_t lanes,
                 const LanePointers &to);

/// Read-modify-write of `bytes` (4 or 8) bytes lane by lane: `exchange(lane, bytes on the host)` changes
/// them and returns the old value, which goes to the registers from the instruction's destination on when
/// `returned`.
template <class F>
void exchange_lanes(Wave &wave, unsigned destination, bool returned, unsigned bytes, uint64_t lanes,
                    const LanePointers &places, F exchange) {
  each_lane(lanes, [&](unsigned lane) {
    uint64_t old = exchange(lane, places.at[lane]);
    if (!returned)
      return;
    wave.vgpr[destination].word[lane] = static_cast<uint32_t>(old);
    if (bytes == 8)
      wave.vgpr[destination + 1].word[lane] = static_cast<uint32_t>(old >> 32);
  });
}

/// The LDS half of a load to LDS: lane l writes at M0 + the immediate offset + l * 4, or * 16 for more than a
/// word.
void lds_destination(const Wave &wave, const Instruction &instruction, const ElementForm &element,
                     uint64_t lanes, MemoryAccess &out);
/// Moves the data of a load to LDS; less than a word is extended to one.
void copy_to_lds(const ElementForm &element, uint64_t lanes, const LanePointers &from,
                 const LanePointers &to);

} // namespace nereid::sim
