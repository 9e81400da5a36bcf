// Finds the hot loop of a trace by its backward branches.

#include "sim/timing/hot_loop.h"

#include <algorithm>
#include <map>
#include <utility>

namespace nereid::sim::timing {

namespace {

/// A loop that covers less of a wave's instructions is not hot.
constexpr size_t least_share = 4;

/// A backward branch that was taken: where first and last.
struct BackwardBranch {
  size_t first = 0, last = 0;
};

HotLoop before_first_store(const std::vector<TraceEvent> &events, const Program &program) {
  const auto stores = [&](const TraceEvent &event) {
    const Category category = program[event.instruction].category;
    return category == Category::VmemStore || category == Category::VmemAtomic;
  };
  const auto at = static_cast<size_t>(std::find_if(events.begin(), events.end(), stores) - events.begin());
  return {at, at};
}

} // namespace

HotLoop hot_loop(const std::vector<TraceEvent> &events, const Program &program) {
  std::map<std::pair<uint32_t, uint32_t>, BackwardBranch> branches; // from target and branch
  for (size_t i = 0; i + 1 < events.size(); ++i) {
    const uint32_t from = events[i].instruction, to = events[i + 1].instruction;
    if (to > from || program[from].category != Category::Branch)
      continue;
    const auto [entry, is_new] = branches.try_emplace({to, from}, BackwardBranch{i, i});
    entry->second.last = i;
  }
  HotLoop best;
  for (const auto &[edge, taken] : branches) {
    const auto [target, branch] = edge;
    HotLoop loop{taken.first, taken.last + 1};
    while (loop.first > 0 && events[loop.first].instruction != target)
      --loop.first;
    while (loop.last < events.size() && events[loop.last].instruction >= target &&
           events[loop.last].instruction <= branch)
      ++loop.last;
    if (loop.last - loop.first > best.last - best.first)
      best = loop;
  }
  if ((best.last - best.first) * least_share < events.size())
    return before_first_store(events, program);
  return best;
}

} // namespace nereid::sim::timing
