#pragma once

#include "kernels/library_kernel.h"
#include "kernels/specialize.h"

/// Which experts the rows of a mixture go to.
namespace nereid::kernels {

/// How logits become weights. Softmax: of all experts. Renormalised: of the chosen ones, whose weights add up
/// to 1. Sigmoid: sigmoid(logit) of the chosen ones, divided by their sum; with a bias added they are chosen.
enum class Scoring : int { Softmax, Renormalised, Sigmoid };
constexpr auto nereid_config_names(Scoring) {
  return std::to_array<std::string_view>({"softmax", "renormalised", "sigmoid"});
}

/// The choices of moe_route at compile time.
struct MoeRouteConfig {
  int block_m = 4;
  int experts = 256; ///< a power of two that is at least the number of experts
  int top_k = 8;
  int waves = 1;
  int waves_per_eu = 0;
  Scoring scoring = Scoring::Renormalised;
  int groups = 1;      ///< of neighbouring experts; more than 1: the experts are as many as `experts` says
  int keep_groups = 1; ///< those whose two best add up to most; only their experts are chosen

  NEREID_CONFIG(MoeRouteConfig, block_m, experts, top_k, waves, waves_per_eu, scoring, groups, keep_groups)
};

/// Memory of moe_route.
struct MoeRouteOperands {
  DeviceMemory logits;  ///< f32 [m, experts]
  DeviceMemory bias;    ///< f32 [experts]; read with scoring=sigmoid
  DeviceMemory ids;     ///< out: i32 [m, top_k], best first; of equals the lower one
  DeviceMemory weights; ///< out: f32 [m, top_k]
  int experts = 1;
  float scale = 1; ///< a factor of all weights
};

/// The top_k experts of each row and their weights; only m of the size counts. Programs: (m in blocks).
extern const LibraryKernel<MoeRouteConfig, MoeRouteOperands> moe_route_kernel;

} // namespace nereid::kernels
