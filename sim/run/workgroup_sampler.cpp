// Executes representative workgroups within bounds of time and memory.

#include "sim/run/workgroup_sampler.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/timing/constants.h"

namespace nereid::sim {

namespace {

using timing::WorkgroupTrace;

/// Wave instructions of all workgroups after the first that are executed to see which lines they share, and
/// the least of one of them, which covers a prologue and some steps of a loop.
constexpr uint64_t sampled_instructions = 1'500'000;
constexpr uint64_t least_instructions = 3'000;
/// Wave instructions of workgroups that are run to their ends although they are long: of kernels with
/// atomics, to find one that does more because it is the last to arrive.
constexpr uint64_t ended_instructions = 3'000'000;
/// Wave instructions of the workgroups that share a compute unit which are kept as traces, of one at least so
/// many; lines that are kept; and wave instructions that a workgroup may execute in addition. Together less
/// than a second and a gigabyte.
constexpr uint64_t traced_instructions = 1'000'000, least_traced_instructions = 60'000;
constexpr size_t most_lines = size_t{1} << 21;
constexpr uint64_t untraced_instructions = 2'000'000;
/// No further workgroup is looked at after so many, where those after the first do more than it.
constexpr uint64_t most_sampled = 2 * sampled_instructions;
/// A workgroup that executes so much more than the first is replayed as the one that ends last; what is done
/// by the last to arrive may be a little.
constexpr double longer = 1.05, longer_with_atomics = 1.002;
/// Workgroups whose wave instructions differ by less are alike; so many are executed at most to tell.
constexpr double alike = 1.05;
constexpr uint64_t most_compared = 500'000;
/// Wave instructions between two looks at what was executed.
constexpr uint64_t look_interval = 8;

/// Leaves the first events of each wave, with what stands for others.
void cut(WorkgroupTrace &trace, uint64_t events) {
  const size_t of_wave = events / std::max<size_t>(1, trace.waves.size());
  for (size_t w = 0; w < trace.waves.size(); ++w) {
    const size_t sampled = w < trace.samples.size() ? trace.samples[w].last : 0;
    trace.waves[w].resize(std::min(trace.waves[w].size(), std::max(of_wave, sampled)));
  }
}

} // namespace

WorkgroupSampler::WorkgroupSampler(LaunchState &state, uint64_t sharing, bool may_cut)
    : state_(state), overwritten_(state.memory), recorder_(state.memory, footprint_, overwritten_),
      runner_(state, &recorder_), traced_(std::max(traced_instructions / sharing, least_traced_instructions)),
      may_cut_(may_cut) {}

std::optional<Fault> WorkgroupSampler::run(uint64_t most_workgroups) {
  if (auto fault = trace(0, first_))
    return fault;
  counts_.push_back(first_.totals.counts);
  const uint64_t sampled = std::min(state_.group_count, most_workgroups);
  const uint64_t limit = std::max(least_instructions, sampled_instructions / sampled);
  const bool whole = first_.totals.instructions <= static_cast<double>(limit);
  const bool arrives = runner_.totals().counts[static_cast<size_t>(Category::VmemAtomic)] > 0;
  uint64_t to_ends = arrives ? ended_instructions : 0;
  if (!whole)
    recorder_.limit_footprint(limit);
  for (uint64_t id = 1; id < sampled && recorder_.lines() < most_lines && executed_ < most_sampled; ++id) {
    if (!whole && to_ends == 0) {
      if (auto fault = run_part(id, limit))
        return fault;
      continue;
    }
    TracedWorkgroup traced;
    if (auto fault = trace(id, traced)) {
      if (whole || fault->kind != FaultKind::Budget)
        return fault;
      to_ends = 0; // it waits for others
      continue;
    }
    executed_ += whole ? traced.trace.instructions : std::min(traced.trace.instructions, limit);
    to_ends -= std::min(to_ends, traced.trace.instructions);
    counts_.push_back(traced.totals.counts);
    ended_.push_back(traced.totals.instructions);
    if (traced.totals.instructions >
        (arrives ? longer_with_atomics : longer) * longest().totals.instructions) {
      longest_ = std::move(traced);
      to_ends = 0;
    }
  }
  if (counts_.size() != state_.group_count)
    counts_.clear();
  return std::nullopt;
}

std::optional<Fault> WorkgroupSampler::trace(uint64_t id, TracedWorkgroup &result) {
  recorder_.keep_traces(true);
  runner_.begin(id);
  uint64_t most = traced_;
  for (bool skips = false; !runner_.ended();) {
    if (auto fault = runner_.advance(look_interval))
      return fault;
    if (!skips && (recorder_.instructions() > traced_ || recorder_.lines() > most_lines)) {
      recorder_.skip_loops(state_.code->program());
      skips = true;
      most = recorder_.instructions() + untraced_instructions;
    }
    if (skips && recorder_.instructions() > most) {
      if (!may_cut_)
        return too_long();
      break;
    }
  }
  result.trace = recorder_.take_trace();
  if (!runner_.ended())
    cut(result.trace, traced_);
  result.totals = timing::totals_of(result.trace, state_.code->program());
  return std::nullopt;
}

std::optional<Fault> WorkgroupSampler::run_part(uint64_t id, uint64_t limit) {
  recorder_.keep_traces(false);
  runner_.begin(id);
  for (uint64_t executed = 0; !runner_.ended() && executed < limit; executed += look_interval) {
    if (auto fault = runner_.advance(look_interval))
      return fault;
    executed_ += look_interval;
  }
  if (runner_.ended())
    ended_.push_back(static_cast<double>(recorder_.instructions()));
  return std::nullopt;
}

bool WorkgroupSampler::is_like_others(double instructions) const {
  const auto is_near = [&](double other) {
    return instructions <= alike * other && other <= alike * instructions;
  };
  return is_near(first_.totals.instructions) || is_near(longest().totals.instructions);
}

bool WorkgroupSampler::looks_uneven() {
  const auto differs = [&](double instructions) { return !is_like_others(instructions); };
  if (std::any_of(ended_.begin(), ended_.end(), differs))
    return true;
  if (executed_workgroups() == state_.group_count)
    return false;
  const double more_than_longest = alike * longest().totals.instructions + look_interval;
  const auto most = static_cast<uint64_t>(std::min(more_than_longest, double{most_compared}));
  recorder_.keep_traces(false);
  runner_.begin(state_.group_count - 1);
  while (!runner_.ended() && recorder_.instructions() <= most)
    if (runner_.advance(look_interval))
      return false; // the launch itself will tell
  const auto last = static_cast<double>(recorder_.instructions());
  return differs(last) && (runner_.ended() || last > alike * longest().totals.instructions);
}

Fault WorkgroupSampler::too_long() {
  const Wave &wave = runner_.current();
  const Instruction &instruction = state_.code->program()[wave.current];
  Fault fault;
  fault.kind = FaultKind::Budget;
  fault.address = instruction.address;
  fault.instruction = state_.code->program().text(instruction);
  fault.line = state_.code->line(instruction.address);
  std::copy_n(runner_.group().id, 3, fault.workgroup.begin());
  fault.wave = wave.index;
  fault.text = fmt::format(
      "the workgroup executed {} instructions and has not ended, more than a launch is timed by; "
      "when its loop ends is not to be seen in scalar compares of registers that count up or down",
      recorder_.instructions());
  return fault;
}

double WorkgroupSampler::fetched_share() const {
  const auto requested = static_cast<double>(footprint_.requested_bytes);
  return requested > 0 ? static_cast<double>(footprint_.fetched_bytes()) / requested : 0;
}

double WorkgroupSampler::distinct_bytes(double loaded_bytes) const {
  const double scale = loaded_bytes / std::max(1.0, static_cast<double>(footprint_.requested_bytes));
  double sum = 0;
  for (const auto &[address, bytes] : footprint_.block_bytes) {
    const Block *block = state_.memory.find(address, 0);
    const double size = block ? static_cast<double>(block->size()) : 0;
    sum += std::min(static_cast<double>(bytes) * std::max(1.0, scale),
                    std::max(size, double{timing::line_bytes}));
  }
  return sum;
}

} // namespace nereid::sim
