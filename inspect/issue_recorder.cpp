// The clock's view of each instruction: how often, for how long, and what its wave waited for.
#include "inspect/issue_recorder.h"

#include <algorithm>

#include "sim/decode/program.h"

namespace nereid::inspect {
namespace {

/// Issues of a timeline, and how many of a wave before its hot loop are in it.
constexpr size_t most_shown = 12'000;
constexpr size_t shown_before_loop = 80;

} // namespace

void IssueRecorder::begin(std::span<const sim::timing::WorkgroupTrace *const> workgroups) {
  const sim::timing::WorkgroupTrace &trace = *workgroups.front();
  waves_.resize(trace.waves.size());
  for (size_t w = 0; w < waves_.size(); ++w) {
    const auto &events = trace.waves[w];
    const sim::timing::HotLoop loop = sim::timing::hot_loop(events, program_);
    WaveFacts &wave = waves_[w];
    wave.shown_from = loop.first < loop.last ? loop.first - std::min(loop.first, shown_before_loop) : 0;
    if (w < trace.samples.size()) {
      const sim::timing::LoopSample &sample = trace.samples[w];
      wave.first = sample.first;
      wave.last = sample.last;
      wave.weight = 1 + sample.times();
    }
    if (w > 0 || loop.first >= loop.last)
      continue;
    has_hot_loop_ = true;
    hot_first_ = hot_last_ = events[loop.first].instruction;
    for (size_t i = loop.first; i < loop.last; ++i) {
      hot_first_ = std::min(hot_first_, events[i].instruction);
      hot_last_ = std::max(hot_last_, events[i].instruction);
    }
  }
}

void IssueRecorder::issued(const sim::timing::ReplayedIssue &issue) {
  if (issue.group != 0)
    return;
  WaveFacts &wave = waves_[issue.wave];
  const double times = weight(wave, issue.event);
  Facts &facts = facts_[issue.instruction];
  facts.executed += times;
  facts.clocks += times * static_cast<double>(issue.next - issue.issue);
  if (issue.issue > issue.ready)
    facts.stalls[issue.reason] += times * static_cast<double>(issue.issue - issue.ready);
  wave.last_issued = issue.instruction;
  wave.last_weight = times;
  wave.last_is_shown = issue.event >= wave.shown_from && shown_.size() < most_shown;
  if (wave.last_is_shown)
    shown_.push_back({issue.instruction, issue.wave, issue.ready, issue.issue, issue.next, issue.done,
                      issue.issue > issue.ready ? issue.reason : ""});
  else
    cut_ |= shown_.size() >= most_shown;
}

void IssueRecorder::passed_barrier(size_t group, unsigned wave, uint64_t from, uint64_t until) {
  if (group != 0 || until <= from)
    return;
  const WaveFacts &facts = waves_[wave];
  facts_[facts.last_issued].stalls["barrier"] += facts.last_weight * static_cast<double>(until - from);
  if (facts.last_is_shown)
    shown_.push_back({facts.last_issued, wave, from, until, until, 0, "barrier"});
}

void IssueRecorder::choose_hot_loop(Report &report, const MachineCode &machine) const {
  report.hot_loop = -1;
  double most = 0;
  for (size_t i = 0; i < report.loops.size(); ++i) {
    const Loop &loop = report.loops[i];
    if (has_hot_loop_ && machine.program_index[loop.first] == hot_first_ &&
        machine.program_index[loop.last] == hot_last_) {
      report.hot_loop = static_cast<int>(i);
      return;
    }
    const double executed = loop.iterations * (loop.last - loop.first + 1);
    if (executed > most) {
      most = executed;
      report.hot_loop = static_cast<int>(i);
    }
  }
}

void IssueRecorder::add_to(Report &report, const MachineCode &machine) const {
  const double waves = std::max<double>(1, static_cast<double>(waves_.size()));
  for (size_t i = 0; i < report.code.size(); ++i) {
    const Facts &facts = facts_[machine.program_index[i]];
    Instruction &instruction = report.code[i];
    instruction.executed = facts.executed / waves;
    instruction.issue_clocks = facts.clocks / waves;
    for (const auto &[reason, clocks] : facts.stalls)
      instruction.stalls[reason] = clocks / waves;
  }
  for (Loop &loop : report.loops)
    loop.iterations = report.code[loop.last].executed;
  choose_hot_loop(report, machine);
  add_timeline(*report.run, machine);
}

void IssueRecorder::add_timeline(Run &run, const MachineCode &machine) const {
  uint64_t start = ~uint64_t{0};
  for (const Shown &shown : shown_)
    start = std::min(start, shown.ready);
  std::map<std::string, unsigned> reasons;
  run.reasons = {""};
  reasons[""] = 0;
  for (const Shown &shown : shown_) {
    const int instruction = machine.report_index[shown.instruction];
    if (instruction < 0)
      continue;
    const auto [reason, is_new] =
        reasons.try_emplace(shown.reason, static_cast<unsigned>(run.reasons.size()));
    if (is_new)
      run.reasons.push_back(shown.reason);
    const auto clock = [start](uint64_t time) { return static_cast<uint32_t>(time - start); };
    run.timeline.push_back({static_cast<unsigned>(instruction), shown.wave, clock(shown.ready),
                            clock(shown.issue), clock(shown.end), shown.done ? clock(shown.done) : 0,
                            reason->second});
  }
  run.timeline_is_cut = cut_;
}

} // namespace nereid::inspect
