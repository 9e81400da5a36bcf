#pragma once

#include <cstdint>
#include <optional>

#include "sim/launch/launch_time.h"

namespace nereid {

/// While it lives, the launches of this thread on simulators may execute this many wave instructions
/// together; the launch that wants more ends with an error. A budget inside another takes its place.
class LaunchBudget {
public:
  explicit LaunchBudget(uint64_t instructions);
  ~LaunchBudget();
  LaunchBudget(const LaunchBudget &) = delete;
  LaunchBudget &operator=(const LaunchBudget &) = delete;

  /// What is left of this thread's budget; nothing when it has none.
  static std::optional<uint64_t> left();
  /// Takes what a launch executed; all that is left of a launch that wanted more.
  static void spend(uint64_t instructions);

private:
  std::optional<uint64_t> outer_;
};

/// How launches are timed.
struct LaunchTiming {
  sim::Timing timing = sim::Timing::Off;
  sim::CacheState caches = sim::CacheState::Cold;
};

/// While it lives, the launches of this thread on simulators are timed so, whatever their device's options
/// say.
class TimedLaunches {
public:
  explicit TimedLaunches(LaunchTiming timing);
  ~TimedLaunches();
  TimedLaunches(const TimedLaunches &) = delete;
  TimedLaunches &operator=(const TimedLaunches &) = delete;

  /// What this thread asks for; nothing when it leaves it to the device.
  static std::optional<LaunchTiming> current();

private:
  std::optional<LaunchTiming> outer_;
};

} // namespace nereid
