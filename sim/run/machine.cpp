// Runs the workgroups of a launch on several host threads and collects counts and the fault.

#include "sim/run/machine.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "base/float_environment.h"
#include "base/progress.h"
#include "base/threads.h"
#include "sim/decode/program.h"
#include "sim/run/make_checkers.h"
#include "sim/run/profile_launch.h"
#include "sim/run/workgroup.h"
#include "sim/timing/device_model.h"

namespace nereid::sim {

namespace {

/// Runs all workgroups and collects what they did. Of several faults the one of the lowest workgroup is kept,
/// so that the number of host threads does not decide.
class Scheduler {
public:
  /// `counted`: what each workgroup executes is kept.
  Scheduler(LaunchState &state, bool counted)
      : state_(state), counts_(counted ? state.group_count : 0),
        progress_(fmt::format("simulating kernel '{}'", state.kernel->name), state.group_count) {}

  void run(unsigned threads) {
    run_on_threads(threads, [this] { work(); });
  }

  Report report() const {
    Report result = totals_.report();
    result.fault = fault_;
    return result;
  }
  std::span<const timing::WorkgroupCounts> counts() const { return counts_; }

private:
  void work() {
    const std::unique_ptr<Checker> checker = make_checkers(state_);
    WorkgroupRunner runner(state_, checker.get());
    for (;;) {
      uint64_t id = next_.fetch_add(1);
      if (id >= state_.group_count || id > faulted_.load())
        break;
      const WorkgroupTotals before = runner.totals();
      if (auto fault = runner.run(id)) {
        std::lock_guard lock(mutex_);
        if (id < faulted_.load()) {
          faulted_ = id;
          fault_ = std::move(fault);
        }
        break;
      }
      if (!counts_.empty())
        counts_[id] = counts_of(runner, before);
      progress_.advance();
    }
    std::lock_guard lock(mutex_);
    totals_.add(runner.totals());
  }

  /// Of the workgroup that has just ended.
  static timing::WorkgroupCounts counts_of(const WorkgroupRunner &runner, const WorkgroupTotals &before) {
    const auto executed = [&](Category category) {
      const auto index = static_cast<size_t>(category);
      return runner.totals().counts[index] - before.counts[index];
    };
    timing::WorkgroupCounts counts;
    for (const auto &wave : runner.waves())
      counts.longest_wave = std::max(counts.longest_wave, wave->executed);
    counts.loads = executed(Category::VmemLoad);
    counts.stores = executed(Category::VmemStore) + executed(Category::VmemAtomic);
    counts.products = executed(Category::Mfma);
    return counts;
  }

  LaunchState &state_;
  std::vector<timing::WorkgroupCounts> counts_;
  std::atomic<uint64_t> next_{0};
  std::atomic<uint64_t> faulted_{std::numeric_limits<uint64_t>::max()};
  std::mutex mutex_;
  std::optional<Fault> fault_;
  WorkgroupTotals totals_;
  ProgressLine progress_;
};

/// Whether workgroups may do more or less by the order in which they run, as the last to arrive does.
bool has_atomics(const Program &program) {
  for (uint32_t i = 0; i < program.size(); ++i)
    if (program[i].category == Category::VmemAtomic)
      return true;
  return false;
}

LaunchTime time_of(const ProfiledLaunch &profiled, const Launch &launch) {
  LaunchTime time = launch_time(profiled.profile, launch.caches);
  time.workgroups = uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2];
  time.executed_workgroups = profiled.executed_workgroups;
  time.looks_uneven = profiled.looks_uneven;
  return time;
}

} // namespace

Error Fault::error() const {
  std::string message = fmt::format("{}: {}, workgroup ({}, {}, {}), wave {}", fault_kind_name(kind), text,
                                    workgroup[0], workgroup[1], workgroup[2], wave);
  if (lane >= 0)
    message += fmt::format(", lane {}", lane);
  message += fmt::format(", '{}' at {:#x}", instruction, address);
  if (memory)
    message += fmt::format(", memory at {:#x}", *memory);
  return device_error(std::move(message), {}, line);
}

Result<Report> run(const CodeObject &code, Memory &memory, const Launch &launch) {
  const FloatEnvironment environment;
  auto start = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  if (launch.timing == Timing::Only) {
    NEREID_TRY(ProfiledLaunch profiled, profile_launch(code, memory, launch));
    Report report = profiled.executed.report();
    report.fault = std::move(profiled.fault);
    if (!report.fault)
      report.time = time_of(profiled, launch);
    report.wall_seconds = seconds();
    return report;
  }
  const bool timed = launch.timing == Timing::On;
  // Some workgroups are executed again to be timed, on a copy, which they can leave as they like.
  std::unique_ptr<Memory> copy;
  if (timed) {
    NEREID_TRY(copy, memory.fork());
  }
  NEREID_TRY(const auto state, LaunchState::prepare(code, memory, launch));
  unsigned threads = launch.threads ? launch.threads : std::max(1u, std::thread::hardware_concurrency());
  if (code.program().has_float_atomics() && !launch.any_order)
    threads = 1; // the sum's bits depend on the order
  if (timed && has_atomics(code.program()))
    threads = 1; // what each workgroup executes may depend on the order, and the time on that
  if (launch.checks.race_global)
    threads = 1; // one checker sees all workgroups
  Scheduler scheduler(*state, timed);
  scheduler.run(static_cast<unsigned>(std::min<uint64_t>(threads, state->group_count)));
  Report report = scheduler.report();
  if (timed && !report.fault) {
    NEREID_TRY(ProfiledLaunch profiled, profile_launch(code, *copy, launch, scheduler.counts()));
    report.untimed = std::move(profiled.fault);
    if (!report.untimed)
      report.time = time_of(profiled, launch);
  }
  report.wall_seconds = seconds();
  return report;
}

} // namespace nereid::sim
