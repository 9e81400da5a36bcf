#pragma once

#include <string>

#include "jit/tune/tuning_key.h"
#include "kernels/gemm_plan.h"

namespace nereid::kernels {

/// The words for paths in configs.
constexpr auto nereid_config_names(GemmPath) { return path_names; }

/// What mxfp4_linear is tuned over, and what tuning tables hold of it: "path=fused,block_m=16,...".
struct LinearConfig {
  GemmPath path = GemmPath::Auto;
  GemmConfig gemm;

  NEREID_CONFIG(LinearConfig, path, gemm)
};

/// The operation in tuning tables.
inline constexpr const char *linear_name = "mxfp4_linear";
/// The key of a shape in tuning tables: "M=16,N=2112,K=7168".
inline std::string linear_key(const ProblemSize &size) {
  return tuning_key({{"M", size.m}, {"N", size.n}, {"K", size.k}});
}

/// A config in tuning tables: with all that it leaves to the library for this shape, so that it has one name
/// however it was given; as it is where the library refuses it.
inline std::string linear_config_text(const Partial<LinearConfig> &config, const ProblemSize &size) {
  const Result<GemmPlan> plan = plan_gemm(config.path.value_or(GemmPath::Auto), config.gemm, size);
  return plan ? config_text(LinearConfig{.path = plan->path, .gemm = plan->gemm}) : config_text(config);
}

} // namespace nereid::kernels
