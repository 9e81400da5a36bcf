// Finds the loop that a wave is in, and how many of its iterations are left.

#include "sim/timing/loop_skip.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

namespace nereid::sim::timing {

namespace {

/// Registers may take turns over as many iterations, by stages or by copies of the loop's body.
constexpr uint64_t block = 4;
/// Iterations that a loop has had before it is taken to be the one to pass.
constexpr uint64_t least_passes = 8;
/// Blocks before the end that are executed.
constexpr int64_t margin = 2;

bool is_compare(const Instruction &instruction) {
  return instruction.operation && std::string_view(instruction.operation->name).starts_with("s_cmp");
}

/// Conditional branches on masks of lanes: when they go another way is not known.
bool depends_on_lanes(const Instruction &instruction) {
  if (!instruction.operation)
    return false;
  const std::string_view name = instruction.operation->name;
  return name.starts_with("s_cbranch_vcc") || name.starts_with("s_cbranch_exec");
}

/// The answer of a compare whose operands change by da and db.
struct Predicate {
  std::string_view order; ///< "eq", "lg", "gt", "ge", "lt", "le"
  int64_t difference, change;

  bool holds(int64_t times) const {
    const int64_t x = difference + change * times;
    return order == "eq"   ? x == 0
           : order == "lg" ? x != 0
           : order == "gt" ? x > 0
           : order == "ge" ? x >= 0
           : order == "lt" ? x < 0
                           : x <= 0;
  }
  /// After how many blocks it first answers otherwise; nothing: never.
  std::optional<int64_t> first_change() const {
    if (change == 0)
      return std::nullopt;
    const bool now = holds(0);
    const int64_t crossing = -difference / change;
    for (int64_t times = std::max<int64_t>(crossing - 2, 1); times <= crossing + 2; ++times)
      if (holds(times) != now)
        return times;
    return std::nullopt;
  }
};

struct Edge {
  uint64_t taken = 0;
  size_t first = 0, last = 0;
};

} // namespace

LoopSkip::LoopSkip(const WorkgroupTrace &trace, const Program &program)
    : program_(program), waves_(trace.waves.size()) {
  for (size_t w = 0; w < trace.waves.size(); ++w) {
    const std::vector<TraceEvent> &events = trace.waves[w];
    std::map<std::pair<uint32_t, uint32_t>, Edge> edges;
    for (size_t i = 0; i + 1 < events.size(); ++i) {
      const uint32_t from = events[i].instruction, to = events[i + 1].instruction;
      if (to > from || program[from].category != Category::Branch)
        continue;
      Edge &edge = edges.try_emplace({to, from}, Edge{0, i, i}).first->second;
      ++edge.taken;
      edge.last = i;
    }
    WaveLoop &loop = waves_[w];
    loop.last = events.empty() ? 0 : events.back().instruction;
    size_t longest = 0;
    for (const auto &[ends, edge] : edges) {
      if (edge.taken < least_passes || edge.last - edge.first <= longest)
        continue;
      const size_t of_one = (edge.last - edge.first) / (edge.taken - 1);
      if (events.size() - edge.last > 2 * of_one + 1)
        continue; // it is over
      longest = edge.last - edge.first;
      loop.found = true;
      loop.first = ends.first;
      loop.branch = ends.second;
      loop.passes = edge.taken;
    }
    first_watched_ = std::max(first_watched_, loop.passes + 1);
  }
  last_kept_ = first_watched_ + 2 * block;
}

void LoopSkip::before(Wave &wave, const Instruction &instruction, std::vector<TraceEvent> &events) {
  WaveLoop &loop = waves_[wave.index];
  const uint32_t at = wave.current, last = std::exchange(loop.last, at);
  if (!loop.found || loop.left)
    return;
  if (at < loop.first || at > loop.branch) {
    loop.left = true;
    return;
  }
  if (at == loop.first && last == loop.branch)
    pass(wave, loop, events);
  if (loop.passes >= first_watched_ && loop.passes < last_kept_ && is_compare(instruction)) {
    const bool wide = std::string_view(instruction.operation->name).ends_with("64");
    const bool is_signed =
        std::string_view(instruction.operation->name).find("_i32") != std::string_view::npos;
    const auto value = [&](const Source &source) {
      const uint64_t bits = wave.scalar_value(source, wide);
      return wide ? static_cast<int64_t>(bits)
                  : (is_signed ? int64_t{static_cast<int32_t>(bits)} : int64_t{static_cast<uint32_t>(bits)});
    };
    const bool constant = std::string_view(instruction.operation->name).starts_with("s_cmpk");
    const int64_t a = constant
                          ? (is_signed ? int64_t{static_cast<int32_t>(wave.sgpr[instruction.destination])}
                                       : int64_t{wave.sgpr[instruction.destination]})
                          : value(instruction.source[0]);
    const int64_t b = !constant   ? value(instruction.source[1])
                      : is_signed ? int64_t{instruction.immediate}
                                  : int64_t{static_cast<uint16_t>(instruction.immediate)};
    loop.compares[(loop.passes - first_watched_) / block].push_back({at, a, b});
  }
}

void LoopSkip::pass(Wave &wave, WaveLoop &loop, std::vector<TraceEvent> &events) {
  ++loop.passes;
  if (loop.passes >= first_watched_ && loop.passes <= last_kept_ &&
      (loop.passes - first_watched_) % block == 0)
    std::copy_n(wave.sgpr.begin(), scalar_registers,
                loop.scalars[(loop.passes - first_watched_) / block].begin());
  if (loop.passes == last_kept_) {
    loop.kept = events.size();
    find_goal(loop);
  }
  if (loop.passes <= last_kept_)
    return;
  events.resize(loop.kept);
  ++loop.skipped;
  // At barriers waves meet: none runs ahead before all know where to go on.
  if (loop.jumped == 0 && loop.goal != 0 && all_known())
    jump(wave, loop);
}

bool LoopSkip::all_known() const {
  return std::all_of(waves_.begin(), waves_.end(), [](const WaveLoop &loop) {
    return !loop.found || loop.left || (loop.known && loop.goal != 0);
  });
}

void LoopSkip::find_goal(WaveLoop &loop) const {
  loop.known = true;
  for (uint32_t i = loop.first; i <= loop.branch; ++i)
    loop.meets |= program_[i].category == Category::Barrier;
  for (uint32_t i = loop.first; i <= loop.branch; ++i)
    if (const Instruction &instruction = program_[i];
        depends_on_lanes(instruction) &&
        (i == loop.branch || instruction.target < loop.first || instruction.target > loop.branch))
      return;
  const auto &[before, now] = loop.compares;
  if (before.size() != now.size())
    return;
  std::optional<int64_t> blocks;
  for (size_t i = 0; i < now.size(); ++i) {
    if (before[i].instruction != now[i].instruction)
      return;
    const std::string_view name = program_[now[i].instruction].operation->name;
    const std::string_view order = name.substr(name.starts_with("s_cmpk") ? 7 : 6, 2);
    const int64_t change = (now[i].a - before[i].a) - (now[i].b - before[i].b);
    const Predicate was{order, before[i].a - before[i].b, change}, is{order, now[i].a - now[i].b, change};
    if (was.holds(0) != is.holds(0))
      return;
    if (const std::optional<int64_t> changes = is.first_change())
      blocks = std::min(blocks.value_or(*changes), *changes);
  }
  // The compares are those of the block before the last pass.
  if (!blocks)
    return;
  for (unsigned s = 0; s < scalar_registers; ++s) {
    const uint32_t first = loop.scalars[1][s] - loop.scalars[0][s],
                   second = loop.scalars[2][s] - loop.scalars[1][s];
    const bool is_state = s == scalar::vcc || s == scalar::vcc + 1 || s == scalar::m0 || s >= scalar::exec;
    loop.change[s] = first == second && !is_state ? static_cast<int32_t>(second) : 0;
  }
  loop.goal = last_kept_ + static_cast<uint64_t>(std::max<int64_t>(*blocks - 1 - margin, 0)) * block;
}

/// Waves that meet at barriers jump equally far, or they would not meet again.
uint64_t LoopSkip::blocks_to_jump(const WaveLoop &loop) {
  const auto blocks_of = [&](uint64_t goal) { return goal > loop.passes ? (goal - loop.passes) / block : 0; };
  if (!loop.meets)
    return blocks_of(loop.goal);
  if (!shared_blocks_) {
    uint64_t goal = loop.goal;
    for (const WaveLoop &other : waves_)
      if (other.found && other.meets)
        goal = std::min(goal, other.left ? 0 : other.goal);
    shared_blocks_ = blocks_of(goal);
  }
  return *shared_blocks_;
}

void LoopSkip::jump(Wave &wave, WaveLoop &loop) {
  const uint64_t blocks = blocks_to_jump(loop);
  if (blocks == 0)
    return;
  std::array<int64_t, scalar_registers> carry{};
  for (unsigned s = 0; s < scalar_registers; ++s) {
    const int64_t value = int64_t{wave.sgpr[s]} + loop.change[s] * static_cast<int64_t>(blocks) + carry[s];
    wave.sgpr[s] = static_cast<uint32_t>(value);
    // The upper word of an address or a counter of 64 bits follows.
    if (s % 2 == 0 && s + 1 < scalar_registers && loop.change[s] != 0)
      carry[s + 1] = value >> 32;
  }
  loop.jumped = blocks * block;
  loop.passes += loop.jumped;
  loop.skipped += loop.jumped;
}

std::vector<LoopSample> LoopSkip::samples(const WorkgroupTrace &trace) const {
  std::vector<LoopSample> samples(waves_.size());
  for (size_t w = 0; w < waves_.size(); ++w) {
    const WaveLoop &loop = waves_[w];
    const std::vector<TraceEvent> &events = trace.waves[w];
    if (!loop.found || loop.skipped == 0)
      continue;
    std::vector<size_t> heads;
    for (size_t i = 1; i < std::min(loop.kept + 1, events.size()); ++i)
      if (events[i].instruction == loop.first && events[i - 1].instruction == loop.branch)
        heads.push_back(i);
    // The later half: the loop is filled.
    const size_t iterations = heads.size() / 2 / block * block;
    if (iterations == 0)
      continue;
    samples[w] = {heads[heads.size() - 1 - iterations], heads.back(), static_cast<double>(iterations),
                  static_cast<double>(loop.skipped), static_cast<double>(loop.jumped)};
  }
  return samples;
}

WorkgroupTrace without_samples(const WorkgroupTrace &trace) {
  WorkgroupTrace shorter = trace;
  for (size_t w = 0; w < trace.samples.size(); ++w) {
    const LoopSample &sample = trace.samples[w];
    auto &events = shorter.waves[w];
    events.erase(events.begin() + static_cast<ptrdiff_t>(sample.first),
                 events.begin() + static_cast<ptrdiff_t>(sample.last));
  }
  shorter.samples.clear();
  return shorter;
}

} // namespace nereid::sim::timing
