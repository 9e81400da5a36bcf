#pragma once

#include <vector>

#include "kernels/gemm_plan.h"

namespace nereid::kernels {

/// Every config of a path that can be worth its time for a shape: tiles that a lane's registers hold, no
/// larger than the shape asks for, splits each of which has iterations over K. Path is none of Auto.
std::vector<Partial<GemmConfig>> plan_space(GemmPath path, const ProblemSize &size);

/// A config of a path, the plan that it means for a shape, and its quick_estimate.
struct EstimatedPlan {
  Partial<GemmConfig> config;
  GemmPlan plan;
  double us = 0;
};

/// The `most` configs of that space with the least quick_estimate, best first; of equal ones the first of the
/// space goes first.
std::vector<EstimatedPlan> best_of_space(GemmPath path, const ProblemSize &size, size_t most);

} // namespace nereid::kernels
