#pragma once

#include <string_view>

#include "kernels/gemm_plan.h"

namespace nereid::kernels {

/// The environment variable with a directory of tuning tables (docs/tuning.md) that go before those that came
/// with the library.
inline constexpr const char *tables_variable = "NEREID_TUNING";

/// The plan of mxfp4_linear for a shape when the caller leaves path and config open: that of the tuning
/// tables for this shape. Without one, of the entries for this N and K at the nearest powers of two below and
/// above M (within a factor of 4), as far as their configs are valid for this M, and of the plan of
/// plan_space with the least quick_estimate, the one that is estimated to be the fastest; an entry's estimate
/// is scaled by its figure over the estimate at its own M. Computed on the host alone: nothing is compiled or
/// launched, and no stream is touched. An entry that this library refuses is left out, with a warning.
/// Errors: the variable's directory is missing, or has a damaged table (Environment); no path has a config
/// for the shape (Nereid).
Result<GemmPlan> choose_plan(const ProblemSize &size, std::string_view device);

} // namespace nereid::kernels
