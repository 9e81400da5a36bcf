#pragma once

#include <vector>

#include "jit/tune/report.h"

namespace nereid::jit {

/// Sets TuneOutcome::same_code_as of the candidates that compiled: their kernels, in order, have the same
/// instructions, constants, registers, LDS and waves as those of an earlier one. Names and metadata do not
/// count.
void find_same_code(std::vector<TuneOutcome> &candidates);

/// Whether launches of the same code did the same as others that were timed: grids, and instructions of each
/// kind. Then they get their times.
bool take_times(const std::vector<LaunchInfo> &timed, std::vector<LaunchInfo> &launches);

} // namespace nereid::jit
