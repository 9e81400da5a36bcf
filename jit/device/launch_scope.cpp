// What a thread asks of all its launches: a bound of their instructions, and to be timed.
#include "jit/device/launch_scope.h"

#include <algorithm>

namespace nereid {
namespace {

thread_local std::optional<uint64_t> budget;
thread_local std::optional<LaunchTiming> current_timing;

} // namespace

LaunchBudget::LaunchBudget(uint64_t instructions) : outer_(budget) { budget = instructions; }
LaunchBudget::~LaunchBudget() { budget = outer_; }

std::optional<uint64_t> LaunchBudget::left() { return budget; }

void LaunchBudget::spend(uint64_t instructions) {
  if (budget)
    *budget -= std::min(*budget, instructions);
}

TimedLaunches::TimedLaunches(LaunchTiming timing) : outer_(current_timing) { current_timing = timing; }
TimedLaunches::~TimedLaunches() { current_timing = outer_; }

std::optional<LaunchTiming> TimedLaunches::current() { return current_timing; }

} // namespace nereid
