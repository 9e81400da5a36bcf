// Records instructions, and coalesces the addresses of memory instructions to lines.

#include "sim/timing/trace_recorder.h"

#include <algorithm>
#include <bit>

#include "sim/timing/constants.h"
#include "sim/timing/lds_banks.h"

namespace nereid::sim::timing {

namespace {

/// The distinct lines of an access, ascending.
struct Lines {
  std::array<uint64_t, 2 * lane_count> line;
  unsigned count = 0;

  explicit Lines(const MemoryAccess &access) {
    for (unsigned lane = 0; lane < lane_count; ++lane) {
      if (!access.touches(lane))
        continue;
      const uint64_t first = access.address[lane] / line_bytes;
      const uint64_t last = (access.address[lane] + access.bytes - 1) / line_bytes;
      if (count == 0 || line[count - 1] != first)
        line[count++] = first;
      if (last != first && count < line.size())
        line[count++] = last;
    }
    const auto end = line.begin() + count;
    if (!std::is_sorted(line.begin(), end))
      std::sort(line.begin(), end);
    count = static_cast<unsigned>(std::unique(line.begin(), end) - line.begin());
  }
  std::span<const uint64_t> span() const { return {line.data(), count}; }
};

/// Requests to the first cache: of words, one for four neighbouring lanes in the same half line.
unsigned requests_of(const MemoryAccess &access) {
  const auto active = static_cast<unsigned>(std::popcount(access.lanes));
  if (access.bytes > 4)
    return active;
  constexpr unsigned quad = 4, half_line = line_bytes / 2;
  unsigned requests = 0;
  for (unsigned first = 0; first < lane_count; first += quad) {
    unsigned own = 0;
    bool together = true;
    uint64_t half = 0;
    for (unsigned lane = first; lane < first + quad; ++lane) {
      if (!access.touches(lane))
        continue;
      const uint64_t of_lane = access.address[lane] / half_line;
      together &= own == 0 || of_lane == half;
      half = of_lane;
      ++own;
    }
    requests += together ? std::min(own, 1u) : own;
  }
  return requests;
}

} // namespace

uint64_t Footprint::fetched_bytes() const {
  uint64_t sum = 0;
  for (const LineSet &set : fetched)
    sum += set.size() * line_bytes;
  return sum;
}

void TraceRecorder::begin(Workgroup &group, std::span<const std::unique_ptr<Wave>> waves) {
  xcd_ = static_cast<unsigned>(group.linear_id % xcd_count);
  fill_of_.clear();
  fills_ = 0;
  trace_ = {};
  skip_.reset();
  if (keep_)
    trace_.waves.resize(waves.size());
}

void TraceRecorder::before(Wave &wave, const Instruction &instruction) {
  ++trace_.instructions;
  if (!keep_)
    return;
  auto &events = trace_.waves[wave.index];
  if (skip_)
    skip_->before(wave, instruction, events);
  events.push_back({wave.current, 0});
}

WorkgroupTrace TraceRecorder::take_trace() {
  if (skip_)
    trace_.samples = skip_->samples(trace_);
  skip_.reset();
  return std::move(trace_);
}

void TraceRecorder::touch(std::span<const uint64_t> lines, bool load, bool vector, TracedAccess &traced) {
  traced.level = Level::FirstCache;
  for (const uint64_t line : lines) {
    uint64_t &fill = fill_of_[line];
    const bool is_new = fill == 0;
    if (!is_new && fills_ - fill < first_cache_bytes / line_bytes)
      continue;
    fill = ++fills_;
    ++traced.missed_lines;
    traced.level = std::max(traced.level, is_new ? Level::Memory : Level::L2);
    if (is_new && load && vector && trace_.instructions <= noted_) {
      footprint_.fetched[xcd_].insert(line);
      if (footprint_.lines.insert(line)) {
        const Block *block = memory_.before(line * line_bytes + line_bytes - 1);
        footprint_.block_bytes[block ? block->address() : 0] += line_bytes;
      }
    }
  }
}

void TraceRecorder::access(Wave &wave, const Instruction &instruction, const MemoryAccess &access) {
  if (access.writes() && access.space == MemoryAccess::Space::Global)
    overwritten_.before_write(access);
  // Of iterations that are passed over those that are kept tell.
  if (skip_ && skip_->passes_over(wave.index))
    return;
  TracedAccess traced;
  const bool vector = instruction.operation->is_vector_memory();
  if (access.space == MemoryAccess::Space::Lds) {
    if (!keep_)
      return;
    traced.lds_clocks = static_cast<uint16_t>(lds_clocks(access));
    traced.bytes = static_cast<uint32_t>(std::popcount(access.lanes)) * access.bytes;
  } else if (access.lanes) {
    const Lines lines(access);
    traced.memory = true;
    traced.requests = static_cast<uint16_t>(requests_of(access));
    touch(lines.span(), access.reads(), vector, traced);
    traced.device_scope = instruction.device_scope;
    if (traced.device_scope) {
      traced.level = Level::Memory;
      traced.missed_lines = static_cast<uint16_t>(lines.count);
    }
    traced.bytes = traced.missed_lines * line_bytes;
    if (access.writes()) {
      traced.bytes = static_cast<uint32_t>(std::popcount(access.lanes)) * access.bytes;
    } else if (vector && trace_.instructions <= noted_) {
      footprint_.requested_bytes += traced.bytes;
    }
  }
  if (!keep_)
    return;
  TraceEvent &event = trace_.waves[wave.index].back();
  if (!event.access) {
    trace_.accesses.push_back(traced);
    event.access = static_cast<uint32_t>(trace_.accesses.size());
    return;
  }
  // One instruction with two locations a lane, or the LDS half of a load to LDS.
  TracedAccess &known = trace_.accesses[event.access - 1];
  known.lds_clocks = static_cast<uint16_t>(known.lds_clocks + traced.lds_clocks);
  if (known.memory == traced.memory)
    known.bytes += traced.bytes;
  else if (traced.memory) {
    traced.lds_clocks = known.lds_clocks;
    known = traced;
  }
}

} // namespace nereid::sim::timing
