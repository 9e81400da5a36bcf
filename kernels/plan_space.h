#pragma once

#include <vector>

#include "kernels/gemm_plan.h"

namespace nereid::kernels {

/// Every config of a path that can be worth its time for a shape: tiles that a lane's registers hold, no
/// larger than the shape asks for, splits that divide the iterations over K. Path is none of Auto.
std::vector<Partial<GemmConfig>> plan_space(GemmPath path, const ProblemSize &size);

/// The `most` configs of that space with the least quick_estimate, best first; of equal ones the first of the
/// space goes first.
std::vector<Partial<GemmConfig>> best_of_space(GemmPath path, const ProblemSize &size, size_t most);

} // namespace nereid::kernels
