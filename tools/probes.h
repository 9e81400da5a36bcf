#pragma once

#include <string>
#include <vector>

#include "jit/device/device.h"

namespace nereid::tools {

/// What a probe of the chip found.
struct ProbeResult {
  std::string name;
  bool passed = false;
  std::string detail;
};

/// Small products whose results show whether the chip does what the compiler takes for granted: where matrix
/// instructions expect operands and leave results, in which order they add, and that counted waits suffice.
std::vector<ProbeResult> run_probes(const Device &device);

} // namespace nereid::tools
