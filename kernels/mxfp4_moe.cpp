// Mxfp4Moe: the launches of a mixture of experts.
#include "kernels/mxfp4_moe.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "kernels/mxfp4_quant.h"
#include "kernels/splitk_reduce.h"

namespace nereid::kernels {
namespace {

int experts_of_config(int experts) { return static_cast<int>(std::bit_ceil(static_cast<unsigned>(experts))); }

Status check_layer(const MoeLayer &layer, int64_t max_rows) {
  if (layer.width <= 0 || layer.inner <= 0 || layer.width % k_granule != 0 || layer.inner % k_granule != 0)
    return user_error(fmt::format("Mxfp4Moe: width {} and inner {} are not positive multiples of 32",
                                  layer.width, layer.inner));
  if (layer.top_k < 1 || layer.experts < layer.top_k || layer.experts > 1024)
    return user_error(fmt::format("Mxfp4Moe: top {} of {} experts", layer.top_k, layer.experts),
                      "give 1 to 1024 experts and at most as many for a row");
  if (max_rows < 1 || max_rows > max_m)
    return user_error(fmt::format("Mxfp4Moe: {} rows at most", max_rows), "give 1 to 2^20");
  return {};
}

} // namespace

MoeSortConfig Mxfp4Moe::sort_config(int64_t m) const {
  const int64_t rows = m * layer_.top_k / layer_.experts;
  const int experts = experts_of_config(layer_.experts);
  return {.block_m = rows > 64   ? 64
                     : rows > 16 ? 32
                                 : 16,
          .experts = experts,
          .chunk = experts > 512 ? 32 : 64};
}

Result<Mxfp4Moe> Mxfp4Moe::create(const Device &device, const MoeLayer &layer, int64_t max_rows,
                                  const LaunchOptions &options) {
  NEREID_CHECK(check_layer(layer, max_rows));
  Mxfp4Moe moe(device, layer, max_rows, options);
  NEREID_CHECK(moe.allocate());
  return moe;
}

Status Mxfp4Moe::allocate() {
  const int64_t ids = max_rows_ * layer_.top_k;
  const MoeSortSize size{ids, layer_.experts};
  // Fewer rows come in smaller blocks, of which there are more; larger blocks are filled up with more rows.
  const MoeSortConfig smallest = sort_config(1), largest = sort_config(max_rows_);
  const int64_t sorted_rows = std::max(size.sorted_rows(largest), size.sorted_rows(smallest));
  NEREID_TRY(ids_, device_.allocate<int32_t>(ids));
  NEREID_TRY(id_weights_, device_.allocate<float>(ids));
  NEREID_TRY(sorted_, device_.allocate<int32_t>(sorted_rows));
  NEREID_TRY(block_experts_, device_.allocate<int32_t>(size.max_blocks(smallest)));
  NEREID_TRY(places_, device_.allocate<int32_t>(ids));
  NEREID_TRY(scratch_, device_.allocate<uint8_t>(size.scratch_bytes(largest)));
  NEREID_TRY(x_codes_, device_.allocate<uint8_t>(max_rows_ * layer_.width / 2));
  NEREID_TRY(x_scales_, device_.allocate<uint8_t>(max_rows_ * layer_.width / 32));
  NEREID_TRY(inner_codes_, device_.allocate<uint8_t>(sorted_rows * layer_.inner / 2));
  NEREID_TRY(inner_scales_, device_.allocate<uint8_t>(sorted_rows * layer_.inner / 32));
  const int64_t parts = layer_.scatter == Scatter::Store ? ids : max_rows_;
  NEREID_TRY(parts_, device_.allocate<float>(parts * layer_.width));
  return {};
}

Result<std::vector<LaunchRecord>> Mxfp4Moe::operator()(const Stream &stream, const MoeWeights &weights,
                                                       const MoeOperands &operands, int64_t m) const {
  if (m < 1 || m > max_rows_)
    return user_error(fmt::format("Mxfp4Moe: {} rows, its workspace is for 1 to {}", m, max_rows_));
  const ProblemSize size{m, 0, 0};
  NEREID_TRY(const MoeRouteConfig config,
             moe_route_kernel.complete({.experts = experts_of_config(layer_.experts),
                                        .top_k = layer_.top_k,
                                        .scoring = layer_.scoring,
                                        .groups = layer_.groups,
                                        .keep_groups = layer_.keep_groups},
                                       size));
  NEREID_TRY(LaunchRecord routed, moe_route_kernel.launch({stream, options_}, config, size,
                                                          {operands.logits, weights.route_bias, ids_,
                                                           id_weights_, layer_.experts, layer_.scale}));
  NEREID_TRY(std::vector<LaunchRecord> launches, run(stream, weights, operands, ids_, id_weights_, m));
  launches.insert(launches.begin(), std::move(routed));
  return launches;
}

Result<std::vector<LaunchRecord>> Mxfp4Moe::run(const Stream &stream, const MoeWeights &weights,
                                                const MoeOperands &operands, DeviceMemory ids,
                                                DeviceMemory id_weights, int64_t m) const {
  if (m < 1 || m > max_rows_)
    return user_error(fmt::format("Mxfp4Moe: {} rows, its workspace is for 1 to {}", m, max_rows_));
  const LaunchTarget target{stream, options_};
  const int64_t width = layer_.width, inner = layer_.inner;
  const int experts = layer_.experts, top_k = layer_.top_k;

  const ProblemSize x_size{m, 0, width};
  NEREID_TRY(const QuantConfig quant, quant_kernel.complete({}, x_size));
  NEREID_TRY(LaunchRecord quantised,
             quant_kernel.launch(target, quant, x_size, {operands.x, x_codes_, x_scales_}));

  const MoeSortConfig sort = sort_config(m);
  const MoeSortSize sort_size{m * top_k, experts};
  NEREID_TRY(std::vector<LaunchRecord> launches,
             launch_moe_sort(target, sort, sort_size, {ids, sorted_, block_experts_, places_, scratch_}));
  launches.insert(launches.begin(), std::move(quantised));
  const MoeRows rows{sorted_, block_experts_, sort_size.max_blocks(sort), sort.block_m, experts, top_k};

  const ProblemSize up_size{m, inner, width};
  NEREID_TRY(const MoeUpConfig up, moe_up_kernel.complete({.tile = {.block_m = sort.block_m},
                                                           .activation = layer_.activation,
                                                           .gates = layer_.gates,
                                                           .bias = layer_.bias,
                                                           .rule = layer_.rule},
                                                          up_size));
  NEREID_TRY(launches.emplace_back(),
             moe_up_kernel.launch(target, up, up_size,
                                  {x_codes_, x_scales_, rows, weights.up, weights.up_scales, layer_.gates,
                                   weights.up_bias, inner_codes_, inner_scales_}));

  if (layer_.scatter == Scatter::Add) {
    NEREID_TRY(launches.emplace_back(), launch_zero(target, parts_, m * width));
  }
  const ProblemSize down_size{m, width, inner};
  NEREID_TRY(
      const MoeDownConfig down,
      moe_down_kernel.complete(
          {.tile = {.block_m = sort.block_m}, .bias = layer_.bias, .scatter = layer_.scatter}, down_size));
  NEREID_TRY(launches.emplace_back(),
             moe_down_kernel.launch(target, down, down_size,
                                    {inner_codes_, inner_scales_, rows, id_weights, weights.down,
                                     weights.down_scales, weights.down_bias, parts_}));
  NEREID_TRY(launches.emplace_back(), launch_moe_combine(target, layer_.scatter, m, width,
                                                         {parts_, ids, operands.out, experts, top_k}));
  return launches;
}

} // namespace nereid::kernels
