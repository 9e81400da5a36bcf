#pragma once

#include <cfenv>

namespace nereid {

/// While it lives, this thread computes floats as C++ does by default: rounded to nearest, with denormals (no
/// FTZ, no DAZ), no trap on any exception. Afterwards the thread has what its program had set, and the status
/// flags that it had then. A new thread begins with what its creator has.
class FloatEnvironment {
public:
  FloatEnvironment();
  ~FloatEnvironment();
  FloatEnvironment(const FloatEnvironment &) = delete;
  FloatEnvironment &operator=(const FloatEnvironment &) = delete;

private:
  std::fenv_t before_;
};

} // namespace nereid
