#pragma once

#include <vector>

#include "jit/device/device.h"
#include "tools/probe_verdicts.h"

namespace nereid::tools {

/// Small products whose results show whether the chip does what the compiler takes for granted: where matrix
/// instructions expect operands and leave results, in which order they add, and that counted waits suffice.
std::vector<ProbeResult> run_probes(const Device &device);

} // namespace nereid::tools
