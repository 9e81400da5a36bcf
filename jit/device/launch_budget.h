#pragma once

#include <cstdint>
#include <optional>

namespace nereid {

/// While it lives, the launches of this thread on simulators may execute this many wave instructions together;
/// the launch that wants more ends with an error. A budget inside another takes its place.
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

} // namespace nereid
