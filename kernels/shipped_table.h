#pragma once

#include <string_view>

namespace nereid::kernels {

/// The tuning table of mxfp4_linear that comes with the library (kernels/tuned/mxfp4_linear.tuning.jsonl):
/// winners by simulated time for the shapes of docs/tuning.md.
extern const std::string_view shipped_table;

} // namespace nereid::kernels
