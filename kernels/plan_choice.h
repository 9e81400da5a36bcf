#pragma once

#include <string_view>

#include "kernels/gemm_plan.h"

namespace nereid::kernels {

/// The environment variable with a directory of tuning tables (docs/tuning.md) that go before those that came
/// with the library.
inline constexpr const char *tables_variable = "NEREID_TUNING";

/// The plan of mxfp4_linear for a shape when the caller leaves path and config open: that of the tuning
/// tables for this N and K, and this M or else the next power of two below 4 M that they have; without one,
/// that of plan_space with the least quick_estimate. Computed on the host alone: nothing is compiled or
/// launched, and no stream is touched. Error (Environment): a damaged table in the variable's directory.
Result<GemmPlan> choose_plan(const ProblemSize &size, std::string_view device);

} // namespace nereid::kernels
