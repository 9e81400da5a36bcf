// Routing and sorting of a mixture against the reference.
#include <gtest/gtest.h>

#include "kernels/host/moe.h"
#include "kernels/host/random.h"
#include "kernels/moe_route.h"
#include "kernels/moe_sort.h"
#include "tests/kernels/backend.h"

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::kernels::test;

namespace {

constexpr Backend all_backends[] = {Backend::Interpreted, Backend::Checked};

std::vector<float> normal(int64_t count, uint64_t seed) {
  host::Random random(seed);
  std::vector<float> result(count);
  for (float &value : result)
    value = static_cast<float>(random.normal());
  return result;
}

void expect_routed(Backend backend, int64_t m, int experts, const Partial<MoeRouteConfig> &given,
                   float scale) {
  SCOPED_TRACE(name_of(backend) + " " + std::to_string(m) + " rows, " + std::to_string(experts) +
               " experts, " + config_text(given));
  const Device &device = device_of(backend);
  const ProblemSize size{m, 0, 0};
  const Result<MoeRouteConfig> complete = moe_route_kernel.complete(given, size);
  ASSERT_TRUE(complete.ok()) << complete.error().text();
  const MoeRouteConfig &config = *complete;
  const auto logits = normal(m * experts, 1), bias = normal(experts, 2);
  const auto device_logits = device.upload(logits).value(), device_bias = device.upload(bias).value();
  auto ids = device.allocate<int32_t>(m * config.top_k).value();
  auto weights = device.allocate<float>(m * config.top_k).value();
  const Stream stream = device.stream();
  const auto launched = moe_route_kernel.launch({stream, options_of(backend)}, config, size,
                                                {device_logits, device_bias, ids, weights, experts, scale});
  ASSERT_TRUE(launched.ok()) << launched.error().text();
  ASSERT_TRUE(stream.synchronize().ok());
  const host::Routed expected = host::route({.scores = static_cast<host::Scores>(config.scoring),
                                             .experts = experts,
                                             .top_k = config.top_k,
                                             .groups = config.groups,
                                             .keep_groups = config.keep_groups,
                                             .scale = scale},
                                            logits, bias);
  EXPECT_EQ(ids.to_host().value(), expected.ids);
  const std::vector<float> found = weights.to_host().value();
  for (size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], expected.weights[i], 1e-5) << i;
}

void expect_sorted(Backend backend, const std::vector<int32_t> &ids, int64_t experts,
                   const MoeSortConfig &config) {
  SCOPED_TRACE(name_of(backend) + " " + std::to_string(ids.size()) + " ids, " + std::to_string(experts) +
               " experts, " + config_text(config));
  const Device &device = device_of(backend);
  const MoeSortSize size{static_cast<int64_t>(ids.size()), experts};
  const auto device_ids = device.upload(ids).value();
  auto sorted = device.allocate<int32_t>(size.sorted_rows(config)).value();
  auto block_experts = device.allocate<int32_t>(size.max_blocks(config)).value();
  auto places = device.allocate<int32_t>(ids.size()).value();
  auto scratch = device.allocate<uint8_t>(size.scratch_bytes(config)).value();
  for (Buffer<int32_t> *buffer : {&sorted, &block_experts, &places})
    ASSERT_TRUE(buffer->fill(0x5a5a5a5a).ok());
  const Stream stream = device.stream();
  const auto launched = launch_moe_sort({stream, options_of(backend)}, config, size,
                                        {device_ids, sorted, block_experts, places, scratch});
  ASSERT_TRUE(launched.ok()) << launched.error().text();
  ASSERT_TRUE(stream.synchronize().ok());
  const host::Sorted expected = host::sort_by_expert(ids, experts, config.block_m, size.max_blocks(config));
  EXPECT_EQ(sorted.to_host().value(), expected.sorted);
  EXPECT_EQ(block_experts.to_host().value(), expected.block_experts);
  EXPECT_EQ(places.to_host().value(), expected.places);
}

/// Experts at random; every eighth id is -1.
std::vector<int32_t> random_ids(int64_t count, int64_t experts, uint64_t seed) {
  host::Random random(seed);
  std::vector<int32_t> ids(count);
  for (int32_t &id : ids)
    id = random.bits() % 8 == 0 ? -1 : static_cast<int32_t>(random.bits() % experts);
  return ids;
}

} // namespace

TEST(MoeRoute, ChoosesTheBestAndTheirWeights) {
  for (Backend backend : all_backends) {
    expect_routed(backend, 5, 33, {.experts = 64, .top_k = 9, .scoring = Scoring::Softmax}, 1);
    expect_routed(backend, 1, 128, {.experts = 128, .top_k = 4}, 1);
    expect_routed(backend, 3, 257, {.block_m = 2, .experts = 512, .top_k = 9}, 1);
    expect_routed(backend, 2, 384, {.experts = 512, .top_k = 8, .scoring = Scoring::Sigmoid}, 1);
    expect_routed(backend, 6, 256,
                  {.experts = 256, .top_k = 8, .scoring = Scoring::Sigmoid, .groups = 8, .keep_groups = 4},
                  2.5F);
    expect_routed(backend, 4, 3, {.experts = 4, .top_k = 3}, 1);
  }
}

TEST(MoeRoute, TakesTheLowerOfEquals) {
  const Device &device = test_device();
  const auto logits = device.upload(std::vector<float>{1, 3, 3, 0, 3}).value();
  auto ids = device.allocate<int32_t>(3).value();
  auto weights = device.allocate<float>(3).value();
  const ProblemSize size{1, 0, 0};
  const MoeRouteConfig config = moe_route_kernel.complete({.experts = 8, .top_k = 3}, size).value();
  const Stream stream = device.stream();
  ASSERT_TRUE(moe_route_kernel.launch({stream}, config, size, {logits, {}, ids, weights, 5}).ok());
  ASSERT_TRUE(stream.synchronize().ok());
  EXPECT_EQ(ids.to_host().value(), (std::vector<int32_t>{1, 2, 4}));
}

TEST(MoeRoute, RefusesWhatItCannotChoose) {
  const ProblemSize size{4, 0, 0};
  const auto message = [&](const Partial<MoeRouteConfig> &given) {
    return moe_route_kernel.complete(given, size).error().message;
  };
  EXPECT_EQ(message({.experts = 4, .top_k = 5}), "moe_route: top_k=5 of 4 experts");
  EXPECT_EQ(message({.experts = 16, .top_k = 5, .groups = 4}), "moe_route: top_k=5 of 4 experts");
  EXPECT_EQ(message({.experts = 16, .top_k = 1, .groups = 16}),
            "moe_route: groups=16 of experts=16 have no two experts each");
  EXPECT_EQ(message({.experts = 16, .top_k = 1, .groups = 4, .keep_groups = 5}),
            "moe_route: keep_groups=5 of groups=4");
  const MoeRouteConfig config = moe_route_kernel.complete({.experts = 16, .top_k = 4}, size).value();
  for (int experts : {3, 17}) {
    const auto launched =
        moe_route_kernel.launch({test_device().stream()}, config, size, {{}, {}, {}, {}, experts});
    ASSERT_FALSE(launched.ok());
    EXPECT_EQ(launched.error().owner, Owner::User);
    EXPECT_EQ(launched.error().message,
              "moe_route: " + std::to_string(experts) + " experts, its config has experts=16,top_k=4");
  }
}

TEST(MoeSort, OrdersByExpertInWholeBlocks) {
  for (Backend backend : all_backends) {
    expect_sorted(backend, random_ids(1 * 9, 257, 1), 257, {.block_m = 16, .experts = 512});
    expect_sorted(backend, random_ids(70 * 4, 33, 2), 33, {.block_m = 32, .experts = 64});
    expect_sorted(backend, random_ids(77, 8, 3), 8, {.block_m = 4, .experts = 8, .chunk = 16, .waves = 1});
    expect_sorted(backend, std::vector<int32_t>(100, 5), 8, {.block_m = 64, .experts = 8});
    expect_sorted(backend, std::vector<int32_t>(40, -1), 8, {.block_m = 16, .experts = 8});
    expect_sorted(backend, {2, 9, 8, 0, -7}, 8, {.block_m = 16, .experts = 8});
  }
}

TEST(MoeSort, OrdersOverManyChunks) {
  expect_sorted(Backend::Compiled, random_ids(3000, 16, 4), 16,
                {.block_m = 128, .experts = 16, .chunk = 16, .waves = 1});
}

TEST(MoeSort, RefusesMoreExpertsThanItsConfigHas) {
  const auto status = launch_moe_sort({test_device().stream()}, {.experts = 8}, {10, 9}, {});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message, "moe_sort: 9 experts, its config has experts=8");
}
