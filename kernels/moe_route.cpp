// moe_route: scores of experts, and the best of them in rounds of argmax.
#include "kernels/moe_route.h"

#include <limits>

#include <fmt/format.h>

#include "kernels/config_checks.h"
#include "kernels/problem_arguments.h"

namespace nereid::kernels {
namespace {

constexpr float lowest = -std::numeric_limits<float>::infinity();

/// Scores [rows, experts] with those of all but the best groups lowered. A group is as good as its two best
/// experts together.
Tile<f32> keep_best_groups(const MoeRouteConfig &config, const Tile<f32> &scores) {
  const int64_t rows = scores.size(0);
  const Tile<f32> grouped = reshape(scores, {rows, config.groups, config.experts / config.groups});
  const Tile<i32> in_group = expand_dims(cols(config.experts / config.groups), 0);
  const Tile<f32> best = max(grouped, axis(2));
  const Tile<f32> others = where(in_group == argmax(grouped, keep_axis(2)), lowest, grouped);
  Var of_group = best + max(others, axis(2));
  Var kept = zeros<i32>({rows, config.groups});
  for (int round = 0; round < config.keep_groups; ++round) {
    const Tile<i1> chosen = cols(config.groups) == argmax(of_group, keep_axis(1));
    kept = where(chosen, 1, kept);
    of_group = where(chosen, lowest, of_group);
  }
  return reshape(where(expand_dims(kept.get() != 0, 2), grouped, lowest), {rows, config.experts});
}

void moe_route(const MoeRouteConfig &config, Ptr<const f32> logits, Ptr<const f32> bias, Ptr<i32> ids,
               Ptr<f32> weights, Int m, Int experts, Float scale) {
  assume((experts > 0) & (experts <= config.experts));
  const Tile<i32> row = program_id(0) * config.block_m + rows(config.block_m);
  const Tile<i32> expert = cols(config.experts);
  const Tile<i1> row_in_bounds = row < m;
  const Tile<i1> is_expert = expert < experts;
  const Tile<f32> logit = load(logits + row * experts + expert, row_in_bounds & is_expert, lowest);
  const bool sigmoids = config.scoring == Scoring::Sigmoid;
  const Tile<f32> score = sigmoids ? sigmoid(logit) : exp(logit - max(logit, keep_axis(1)));

  // What is chosen by: logits order as their softmax does, without its rounding.
  Var key = logit;
  if (sigmoids)
    key = where(is_expert, score + load(bias + expert, is_expert), lowest);
  if (config.groups > 1)
    key = keep_best_groups(config, key);

  std::vector<Tile<f32>> chosen;
  Var chosen_sum = zeros<f32>({config.block_m, 1});
  for (int rank = 0; rank < config.top_k; ++rank) {
    const Tile<i32> best = argmax(key, keep_axis(1));
    const Tile<i1> is_best = expert == best;
    chosen.push_back(sum(where(is_best, score, 0.0F), keep_axis(1)));
    chosen_sum += chosen.back();
    key = where(is_best, lowest, key);
    store(ids + (row * config.top_k + rank), best, row_in_bounds);
  }
  const Tile<f32> factor =
      scale / (config.scoring == Scoring::Softmax ? sum(score, keep_axis(1)) : chosen_sum.get());
  for (int rank = 0; rank < config.top_k; ++rank)
    store(weights + (row * config.top_k + rank), chosen[rank] * factor, row_in_bounds);
}

MoeRouteConfig moe_route_defaults(const Partial<MoeRouteConfig> &given, const MaybeSize &) {
  const MoeRouteConfig config = config_merge(MoeRouteConfig{}, given);
  return config_merge(MoeRouteConfig{.block_m = config.experts > 512 ? 1 : 4}, given);
}

Status check_moe_route(std::string_view kernel, const MoeRouteConfig &config, const MaybeSize &) {
  const KeyValue m{"block_m", config.block_m}, experts{"experts", config.experts};
  const KeyValue values[] = {m, experts, {"waves", config.waves}};
  NEREID_CHECK(check_values(kernel, values));
  if (config.groups > 1 && config.experts % (2 * config.groups) != 0)
    return user_error(fmt::format("{}: groups={} of experts={} have no two experts each", kernel,
                                  config.groups, config.experts));
  if (config.keep_groups > config.groups)
    return user_error(
        fmt::format("{}: keep_groups={} of groups={}", kernel, config.keep_groups, config.groups));
  if (config.top_k > config.experts / config.groups * config.keep_groups)
    return user_error(fmt::format("{}: top_k={} of {} experts", kernel, config.top_k,
                                  config.experts / config.groups * config.keep_groups));
  return check_elements(kernel, m, experts, config.waves, 64);
}

Grid moe_route_grid(const MoeRouteConfig &config, const ProblemSize &size, const MoeRouteOperands &) {
  return {programs(size.m, config.block_m)};
}

BoundKernel bind_moe_route(std::string_view name, const MoeRouteConfig &config, const MaybeSize &size,
                           const MoeRouteOperands &operands) {
  const auto &[logits, bias, ids, weights, experts, scale] = operands;
  const int64_t m = size ? size->m : 0;
  BoundKernel bound = bind_kernel<moe_route>(
      name, config, MemoryArgument<const f32>{"logits", logits, m * experts * 4, "f32 [m, experts]"},
      MemoryArgument<const f32>{"bias", bias, config.scoring == Scoring::Sigmoid ? int64_t{experts} * 4 : 0,
                                "f32 [experts]"},
      MemoryArgument<i32>{"ids", ids, m * config.top_k * 4, "i32 [m, top_k]"},
      MemoryArgument<f32>{"weights", weights, m * config.top_k * 4, "f32 [m, top_k]"},
      DimensionArgument{"m", m}, NumberArgument{"experts", int32_t{experts}}, NumberArgument{"scale", scale});
  if (experts < config.top_k || experts > config.experts)
    bound.refuse(user_error(fmt::format("{}: {} experts, its config has experts={},top_k={}", name, experts,
                                        config.experts, config.top_k),
                            "Give at least top_k and at most `experts` of them"));
  else if (config.groups > 1 && experts != config.experts)
    bound.refuse(user_error(fmt::format("{}: {} experts in groups={}, its config has experts={}", name,
                                        experts, config.groups, config.experts)));
  return bound;
}

constexpr LaunchNumber<MoeRouteConfig, MoeRouteOperands> moe_route_numbers[] = {
    {"experts", [](auto &operands, int64_t value) { operands.experts = static_cast<int>(value); },
     [](const auto &config) { return int64_t{config.experts}; }},
};

} // namespace

constinit const LibraryKernel<MoeRouteConfig, MoeRouteOperands> moe_route_kernel{
    .name = "moe_route",
    .summary = "the experts of each row of a mixture, and their weights",
    .rule = {{1, max_m}, DimensionRule::absent(), DimensionRule::ignored()},
    .defaults = moe_route_defaults,
    .check = check_moe_route,
    .grid = moe_route_grid,
    .grid_terms = {{{"m", "block_m"}, {}, {}}},
    .bind = bind_moe_route,
    .numbers = moe_route_numbers,
};

} // namespace nereid::kernels
