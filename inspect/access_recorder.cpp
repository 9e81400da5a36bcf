// Coalescing of global accesses, bank conflicts of LDS accesses.
#include "inspect/access_recorder.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "sim/timing/constants.h"
#include "sim/timing/lds_banks.h"

namespace nereid::inspect {
namespace {

using sim::MemoryAccess;

/// Adds the lines that the access touches, and those that its distinct bytes would fill.
void add_lines(GlobalAccess &sum, const MemoryAccess &access) {
  std::vector<uint64_t> addresses;
  for (unsigned lane = 0; lane < sim::lane_count; ++lane)
    if (access.touches(lane))
      addresses.push_back(access.address[lane]);
  std::sort(addresses.begin(), addresses.end());
  uint64_t lines = 0, bytes = 0, end = 0, next_line = 0;
  for (const uint64_t address : addresses) {
    const uint64_t first = std::max(address, end);
    end = std::max(end, address + access.bytes);
    bytes += end - first;
    const uint64_t from = std::max(address / sim::timing::line_bytes, next_line);
    const uint64_t behind = (address + access.bytes - 1) / sim::timing::line_bytes + 1;
    if (behind > from)
      lines += behind - from;
    next_line = std::max(next_line, behind);
  }
  sum.lines += lines;
  sum.fewest_lines += (bytes + sim::timing::line_bytes - 1) / sim::timing::line_bytes;
}

/// Clocks of the banks for the same width, were the lanes to lie one behind the other.
unsigned conflict_free_clocks(MemoryAccess access) {
  access.lanes = ~uint64_t{0};
  access.bytes = static_cast<uint8_t>(std::max(4, (access.bytes + 3) / 4 * 4));
  for (unsigned lane = 0; lane < sim::lane_count; ++lane)
    access.address[lane] = uint64_t{lane} * access.bytes;
  return sim::timing::lds_clocks(access);
}

} // namespace

void AccessRecorder::access(sim::Wave &wave, const sim::Instruction &instruction,
                            const MemoryAccess &access) {
  const auto bytes = static_cast<uint64_t>(std::popcount(access.lanes)) * access.bytes;
  if (access.space == MemoryAccess::Space::Lds) {
    std::optional<LdsAccess> &sum = lds_[wave.current];
    if (!sum)
      sum.emplace();
    if (sum->lanes.empty()) {
      sum->lanes.assign(sim::lane_count, -1);
      for (unsigned lane = 0; lane < sim::lane_count; ++lane)
        if (access.touches(lane))
          sum->lanes[lane] = static_cast<int64_t>(access.address[lane]);
    }
    for (unsigned lane = 0; lane < sim::lane_count; ++lane)
      if (access.touches(lane)) {
        sum->first = std::min(sum->first, access.address[lane]);
        sum->end = std::max(sum->end, access.address[lane] + access.bytes);
      }
    const unsigned clocks = sim::timing::lds_clocks(access);
    sum->executed += std::exchange(is_new_[wave.index].lds, false);
    sum->bytes += bytes;
    sum->clocks += clocks;
    sum->free_clocks += std::min(clocks, conflict_free_clocks(access));
    sum->writes |= access.writes();
    sum->lane_bytes = access.bytes;
    sum->banks = sim::timing::lds_banks(access);
  } else if (access.space == MemoryAccess::Space::Global && instruction.operation->is_vector_memory()) {
    std::optional<GlobalAccess> &sum = global_[wave.current];
    if (!sum)
      sum.emplace();
    sum->executed += std::exchange(is_new_[wave.index].global, false);
    sum->bytes += bytes;
    sum->writes |= access.writes();
    add_lines(*sum, access);
  }
}

} // namespace nereid::inspect
