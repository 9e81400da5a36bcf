// Runs the workgroups of a launch on several host threads and collects counts and the fault.

#include "sim/run/machine.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include "base/float_environment.h"
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
  explicit Scheduler(LaunchState &state) : state_(state) {}

  void run(unsigned threads) {
    run_on_threads(threads, [this] { work(); });
  }

  Report report() const {
    Report result = totals_.report();
    result.fault = fault_;
    return result;
  }

private:
  void work() {
    const std::unique_ptr<Checker> checker = make_checkers(state_);
    WorkgroupRunner runner(state_, checker.get());
    for (;;) {
      uint64_t id = next_.fetch_add(1);
      if (id >= state_.group_count || id > faulted_.load())
        break;
      if (auto fault = runner.run(id)) {
        std::lock_guard lock(mutex_);
        if (id < faulted_.load()) {
          faulted_ = id;
          fault_ = std::move(fault);
        }
        break;
      }
    }
    std::lock_guard lock(mutex_);
    totals_.add(runner.totals());
  }

  LaunchState &state_;
  std::atomic<uint64_t> next_{0};
  std::atomic<uint64_t> faulted_{std::numeric_limits<uint64_t>::max()};
  std::mutex mutex_;
  std::optional<Fault> fault_;
  WorkgroupTotals totals_;
};

} // namespace

Error Fault::error() const {
  std::string message =
      fmt::format("{}: {} at {:#x} '{}', workgroup ({}, {}, {}), wave {}", fault_kind_name(kind), text,
                  address, instruction, workgroup[0], workgroup[1], workgroup[2], wave);
  if (lane >= 0)
    message += fmt::format(", lane {}", lane);
  return device_error(std::move(message), {}, line);
}

Result<Report> run(const CodeObject &code, Memory &memory, const Launch &launch) {
  const FloatEnvironment environment;
  auto start = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  std::optional<LaunchTime> time;
  LaunchProfile profile;
  if (launch.timing != Timing::Off) {
    // A launch that also runs is timed on a copy, which it can leave as it likes.
    std::unique_ptr<Memory> copy;
    if (launch.timing == Timing::On) {
      NEREID_TRY(copy, memory.fork());
    }
    NEREID_TRY(ProfiledLaunch profiled, profile_launch(code, copy ? *copy : memory, launch));
    if (!profiled.fault)
      time = launch_time(profiled.profile, launch.caches);
    profile = std::move(profiled.profile);
    if (launch.timing == Timing::Only) {
      Report report = profiled.executed.report();
      report.fault = std::move(profiled.fault);
      report.time = time;
      report.wall_seconds = seconds();
      return report;
    }
  }
  NEREID_TRY(const auto state, LaunchState::prepare(code, memory, launch));
  unsigned threads = launch.threads ? launch.threads : std::max(1u, std::thread::hardware_concurrency());
  if (code.program().has_float_atomics() && !launch.any_order)
    threads = 1; // the sum's bits depend on the order
  if (launch.checks.race_global)
    threads = 1; // one checker sees all workgroups
  Scheduler scheduler(*state);
  scheduler.run(static_cast<unsigned>(std::min<uint64_t>(threads, state->group_count)));
  Report report = scheduler.report();
  if (!report.fault && time) {
    correct_for_counts(*time, profile, static_cast<double>(report.counts.total),
                       static_cast<double>(report.longest_wave_instructions));
    report.time = time;
  }
  report.wall_seconds = seconds();
  return report;
}

} // namespace nereid::sim
