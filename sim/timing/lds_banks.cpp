// Bank conflicts of LDS accesses.

#include "sim/timing/lds_banks.h"

#include <algorithm>
#include <array>
#include <bit>
#include <span>

namespace nereid::sim::timing {

namespace {

/// How lanes are served: `phases` lists the phase of each lane.
struct Service {
  unsigned banks;
  unsigned phases;
  std::array<uint8_t, lane_count> phase;
};

/// The phase of a lane when each phase serves consecutive lanes.
constexpr Service consecutive(unsigned banks, unsigned phases) {
  Service service{banks, phases, {}};
  for (unsigned lane = 0; lane < lane_count; ++lane)
    service.phase[lane] = static_cast<uint8_t>(lane * phases / lane_count);
  return service;
}

/// The phase of a lane from that of its group of four within half a wave.
constexpr Service by_fours(unsigned banks, unsigned phases, std::array<uint8_t, 8> of_group) {
  Service service{banks, phases, {}};
  for (unsigned lane = 0; lane < lane_count; ++lane)
    service.phase[lane] = static_cast<uint8_t>(of_group[lane % 32 / 4] + lane / 32 * (phases / 2));
  return service;
}

constexpr Service read_word = consecutive(64, 1), read_two = consecutive(64, 2),
                  read_three = by_fours(32, 8, {0, 1, 2, 3, 1, 0, 3, 2}),
                  read_four = by_fours(64, 4, {0, 1, 1, 0, 1, 0, 0, 1}), write_word = consecutive(32, 2),
                  write_two = consecutive(32, 4), write_four = consecutive(32, 8);

const Service &service_of(const MemoryAccess &access) {
  const unsigned words = (access.bytes + 3u) / 4;
  if (access.writes())
    return words <= 1 ? write_word : words == 2 ? write_two : write_four;
  return words <= 1 ? read_word : words == 2 ? read_two : words == 3 ? read_three : read_four;
}

/// The most rows that one bank gives to the lanes of a phase.
unsigned phase_clocks(const MemoryAccess &access, const Service &service, unsigned phase) {
  constexpr unsigned most_rows = lane_count;
  std::array<uint8_t, 64> rows{};
  std::array<std::array<uint32_t, most_rows>, 64> row;
  unsigned clocks = 1;
  for (unsigned lane = 0; lane < lane_count; ++lane) {
    if (service.phase[lane] != phase || !access.touches(lane))
      continue;
    const uint64_t first = access.address[lane] / 4, last = (access.address[lane] + access.bytes - 1) / 4;
    for (uint64_t word = first; word <= last; ++word) {
      const unsigned bank = static_cast<unsigned>(word % service.banks);
      const auto value = static_cast<uint32_t>(word / service.banks);
      const auto known = std::span(row[bank]).first(rows[bank]);
      if (std::find(known.begin(), known.end(), value) != known.end() || rows[bank] == most_rows)
        continue;
      row[bank][rows[bank]++] = value;
      clocks = std::max<unsigned>(clocks, rows[bank]);
    }
  }
  return clocks;
}

/// Whether all lanes lie one behind the other, which never conflicts.
bool is_linear(const MemoryAccess &access) {
  if (access.lanes != ~uint64_t{0} || access.bytes % 4 || access.address[0] % access.bytes)
    return false;
  for (unsigned lane = 1; lane < lane_count; ++lane)
    if (access.address[lane] != access.address[0] + uint64_t{lane} * access.bytes)
      return false;
  return true;
}

} // namespace

unsigned lds_clocks(const MemoryAccess &access) {
  const Service &service = service_of(access);
  if (is_linear(access))
    return service.phases;
  unsigned clocks = 0;
  for (unsigned phase = 0; phase < service.phases; ++phase)
    clocks += phase_clocks(access, service, phase);
  return clocks;
}

unsigned lds_banks(const MemoryAccess &access) { return service_of(access).banks; }

} // namespace nereid::sim::timing
