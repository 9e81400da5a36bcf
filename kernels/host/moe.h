#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/host/layer.h"

/// The reference of a mixture of experts.
namespace nereid::kernels::host {

/// How logits become weights: softmax over all experts, over the chosen ones, or sigmoids of those divided by
/// their sum.
enum class Scores { Softmax, Renormalised, Sigmoid };

/// How experts are chosen and weighed: the arguments of moe_route on the host.
struct Routing {
  Scores scores = Scores::Renormalised;
  int64_t experts = 1;
  int64_t top_k = 1;
  int64_t groups =
      1; ///< only experts of the keep_groups best groups, by the sum of their two best, are chosen
  int64_t keep_groups = 1;
  double scale = 1;
};

/// The chosen experts of each row and their weights.
struct Routed {
  std::vector<int32_t> ids;   ///< [rows, top_k], best first; of equals the lower one
  std::vector<float> weights; ///< [rows, top_k]
};

/// logits f32 [rows, experts]; bias f32 [experts] counts in the choice by sigmoids.
Routed route(const Routing &routing, std::span<const float> logits, std::span<const float> bias);

/// Indices of ids by expert, each expert in whole blocks.
struct Sorted {
  std::vector<int32_t> sorted;        ///< [blocks, block]: indices, -1 where a block is filled up
  std::vector<int32_t> block_experts; ///< -1 for blocks that nothing needs
  std::vector<int32_t> places;        ///< of each index in `sorted`, or -1
};
Sorted sort_by_expert(std::span<const int32_t> ids, int64_t experts, int64_t block, int64_t blocks);

/// The weights of a mixture in plain order.
struct Experts {
  int64_t width = 0;                    ///< of a row (D)
  int64_t inner = 0;                    ///< after the activation (I)
  std::vector<MxMatrix> up;             ///< of each expert [2 inner, width]: all gates, then all ups
  std::vector<MxMatrix> down;           ///< of each expert [width, inner]
  std::vector<uint16_t> up_bias = {};   ///< bf16 [experts, 2 inner], or nothing
  std::vector<uint16_t> down_bias = {}; ///< bf16 [experts, width], or nothing
  Gate gate = Gate::Silu;
  Rule rule = Rule::Even;
};

/// y [rows, width] of x bf16 [rows, width], which is quantised by the even rule; between the products f32 is
/// quantised by the experts' rule. Ids below 0 are left out. Sums in double precision.
std::vector<double> mixture(const Experts &experts, std::span<const uint16_t> x, const Routed &routed,
                            int64_t rows);

} // namespace nereid::kernels::host
