// Simulated times of the kernels between a decoder layer's products, and of a mixture of experts, as
// docs/kernels.md lists them: each launch from a few of its workgroups, caches rotating.
#include <string>
#include <vector>

#include <fmt/format.h>

#include "kernels/host/moe.h"
#include "kernels/host/random.h"
#include "kernels/host/shuffle.h"
#include "kernels/moe_down.h"
#include "kernels/moe_route.h"
#include "kernels/moe_sort.h"
#include "kernels/mxfp4_act_quant.h"
#include "kernels/mxfp4_rmsnorm_quant.h"
#include "kernels/rope_cache.h"

using namespace nereid;
using namespace nereid::kernels;

namespace {

/// GPT-OSS-120B's layer.
constexpr int64_t width = 2880, inner = 2880, heads = 64, kv_heads = 8, head = 64;
constexpr int experts = 128, top_k = 4;

using Times = std::vector<std::pair<std::string, double>>;

Status add(Times &times, std::string_view name, const Result<LaunchRecord> &record) {
  NEREID_CHECK(record);
  times.emplace_back(name, record->info.time ? record->info.time->us : 0);
  return {};
}

Status between_products(const Device &device, int64_t m, Times &times) {
  const LaunchTarget target{device.stream()};
  NEREID_TRY(const Buffer<uint16_t> x, device.allocate<uint16_t>(m * inner * 2));
  NEREID_TRY(const Buffer<uint16_t> residual, device.allocate<uint16_t>(m * width));
  NEREID_TRY(const Buffer<uint16_t> sum, device.allocate<uint16_t>(m * width));
  NEREID_TRY(const Buffer<uint16_t> weight, device.allocate<uint16_t>(width));
  NEREID_TRY(const Buffer<uint8_t> codes, device.allocate<uint8_t>(m * width));
  NEREID_TRY(const Buffer<uint8_t> scales, device.allocate<uint8_t>(host::shuffled_scale_bytes(m, width)));
  const ProblemSize size{m, 0, width};
  NEREID_TRY(const RmsNormQuantConfig norm, rmsnorm_quant_kernel.complete({.shuffled = true}, size));
  NEREID_CHECK(
      add(times, rmsnorm_quant_kernel.name,
          rmsnorm_quant_kernel.launch(target, norm, size, {x, residual, weight, codes, scales, sum})));
  NEREID_TRY(const ActQuantConfig act, act_quant_kernel.complete({.activation = Activation::Swiglu}, size));
  NEREID_CHECK(add(times, act_quant_kernel.name,
                   act_quant_kernel.launch(target, act, size, {x, GateLayout::Separated, codes, scales})));

  NEREID_TRY(const Buffer<uint16_t> q, device.allocate<uint16_t>(m * heads * head));
  NEREID_TRY(const Buffer<uint16_t> cache, device.allocate<uint16_t>((m + 16) * kv_heads * head));
  NEREID_TRY(const Buffer<int32_t> positions, device.upload(std::vector<int32_t>(m)));
  NEREID_TRY(const Buffer<float> angles, device.allocate<float>(head));
  std::vector<int64_t> slot(m);
  for (int64_t i = 0; i < m; ++i)
    slot[i] = i;
  NEREID_TRY(const Buffer<int64_t> slots, device.upload(slot));
  NEREID_TRY(const RopeCacheConfig rope,
             rope_cache_kernel.complete({.heads = heads, .kv_heads = kv_heads, .head = head}, size));
  return add(times, rope_cache_kernel.name,
             rope_cache_kernel.launch(target, rope, size,
                                      {q, x, x, positions, angles, slots, cache, cache, m / 16}));
}

Status mixture(const Device &device, int64_t m, Times &times) {
  const LaunchTarget target{device.stream()};
  const int64_t ids_count = m * top_k;
  std::vector<int32_t> id(ids_count);
  host::Random random(1);
  for (int32_t &expert : id)
    expert = static_cast<int32_t>(random.bits() % experts);
  NEREID_TRY(const Buffer<int32_t> ids, device.upload(id));
  NEREID_TRY(const Buffer<float> logits, device.allocate<float>(m * experts));
  NEREID_TRY(const Buffer<int32_t> chosen, device.allocate<int32_t>(ids_count));
  NEREID_TRY(const Buffer<float> weights, device.allocate<float>(ids_count));
  const ProblemSize rows_only{m, 0, 0};
  NEREID_TRY(const MoeRouteConfig route,
             moe_route_kernel.complete({.experts = experts, .top_k = top_k}, rows_only));
  NEREID_CHECK(
      add(times, moe_route_kernel.name,
          moe_route_kernel.launch(target, route, rows_only, {logits, {}, chosen, weights, experts})));

  const MoeSortConfig config{.block_m = ids_count / experts > 16 ? 32 : 16, .experts = experts};
  const MoeSortSize size{ids_count, experts};
  NEREID_TRY(const Buffer<int32_t> written, device.allocate<int32_t>(size.sorted_rows(config)));
  NEREID_TRY(const Buffer<int32_t> written_experts, device.allocate<int32_t>(size.max_blocks(config)));
  NEREID_TRY(const Buffer<uint8_t> scratch, device.allocate<uint8_t>(size.scratch_bytes(config)));
  NEREID_TRY(const std::vector<LaunchRecord> sorts,
             launch_moe_sort(target, config, size, {ids, written, written_experts, chosen, scratch}));
  double sum = 0;
  for (const LaunchRecord &record : sorts)
    sum += record.info.time ? record.info.time->us : 0;
  times.emplace_back("moe_sort, four launches", sum);

  // What the sort would give: a launch that is only timed leaves nothing.
  const host::Sorted sorted = host::sort_by_expert(id, experts, config.block_m, size.max_blocks(config));
  NEREID_TRY(const Buffer<int32_t> order, device.upload(sorted.sorted));
  NEREID_TRY(const Buffer<int32_t> block_experts, device.upload(sorted.block_experts));
  const MoeRows rows{order, block_experts, size.max_blocks(config), config.block_m, experts, top_k};
  NEREID_TRY(const Buffer<uint8_t> a, device.allocate<uint8_t>(m * width / 2));
  NEREID_TRY(const Buffer<uint8_t> a_scales, device.allocate<uint8_t>(m * width / 32));
  NEREID_TRY(const Buffer<uint8_t> b,
             device.allocate<uint8_t>(experts * host::shuffled_b_bytes(2 * inner, width)));
  NEREID_TRY(const Buffer<uint8_t> b_scales,
             device.allocate<uint8_t>(experts * host::shuffled_scale_bytes(2 * inner, width)));
  NEREID_TRY(const Buffer<uint16_t> bias, device.allocate<uint16_t>(experts * 2 * inner));
  NEREID_TRY(const Buffer<uint8_t> codes, device.allocate<uint8_t>(size.sorted_rows(config) * inner / 2));
  NEREID_TRY(const Buffer<uint8_t> scales, device.allocate<uint8_t>(size.sorted_rows(config) * inner / 32));
  NEREID_TRY(const Buffer<float> parts, device.allocate<float>(ids_count * width));
  NEREID_TRY(const Buffer<uint16_t> out, device.allocate<uint16_t>(m * width));
  const ProblemSize up_size{m, inner, width}, down_size{m, width, inner};
  NEREID_TRY(
      const MoeUpConfig up,
      moe_up_kernel.complete(
          {.tile = {.block_m = config.block_m}, .activation = Activation::Swiglu, .bias = true}, up_size));
  NEREID_CHECK(add(
      times, moe_up_kernel.name,
      moe_up_kernel.launch(target, up, up_size,
                           {a, a_scales, rows, b, b_scales, GateLayout::Separated, bias, codes, scales})));
  NEREID_TRY(const MoeDownConfig down,
             moe_down_kernel.complete({.tile = {.block_m = config.block_m}, .bias = true}, down_size));
  NEREID_CHECK(add(times, moe_down_kernel.name,
                   moe_down_kernel.launch(target, down, down_size,
                                          {codes, scales, rows, weights, b, b_scales, bias, parts})));
  return add(times, "moe_combine",
             launch_moe_combine(target, Scatter::Store, m, width, {parts, ids, out, experts, top_k}));
}

} // namespace

int main() {
  const Device device = Device::simulator({.timing = sim::Timing::Only, .caches = sim::CacheState::Rotating});
  for (int64_t m : {16, 4096}) {
    Times times;
    Status status = between_products(device, m, times);
    if (status)
      status = mixture(device, m, times);
    for (const auto &[name, us] : times)
      fmt::print("{:5} rows  {:24} {:9.2f} us\n", m, name, us);
    if (!status) {
      fmt::print(stderr, "{}\n", status.error().text());
      return 1;
    }
  }
  return 0;
}
