// The default floating-point environment for a scope.
#include "base/float_environment.h"

namespace nereid {

// FE_DFL_ENV also clears FTZ and DAZ on x86-64 and FZ on AArch64.
FloatEnvironment::FloatEnvironment() {
  std::fegetenv(&before_);
  std::fesetenv(FE_DFL_ENV);
}

FloatEnvironment::~FloatEnvironment() { std::fesetenv(&before_); }

} // namespace nereid
