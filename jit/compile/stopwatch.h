#pragma once

#include <chrono>

namespace nereid::jit {

/// Milliseconds since it was made or restarted.
class Stopwatch {
public:
  double milliseconds() const {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_).count();
  }
  double restart() {
    double passed = milliseconds();
    start_ = std::chrono::steady_clock::now();
    return passed;
  }

private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

} // namespace nereid::jit
