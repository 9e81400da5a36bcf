// Batched and grouped products against the reference.
#include <gtest/gtest.h>

#include "kernels/mxfp4_grouped_gemm.h"
#include "tests/kernels/backend.h"

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::kernels::test;

namespace {

template <class T> void append(std::vector<T> &all, const std::vector<T> &more) {
  all.insert(all.end(), more.begin(), more.end());
}

/// Products of the given numbers of rows, their operands one after another.
struct Products {
  std::vector<uint16_t> a;
  std::vector<uint8_t> b, b_scales;
  std::vector<double> exact;
  std::vector<int32_t> ends;

  Products(const std::vector<int64_t> &rows, int64_t n, int64_t k) {
    int64_t end = 0;
    for (size_t i = 0; i < rows.size(); ++i) {
      // An expert without rows has weights all the same.
      const host::Problem problem = host::random_problem(std::max<int64_t>(rows[i], 1), n, k, i + 1);
      append(b, problem.b);
      append(b_scales, problem.b_scales);
      end += rows[i];
      ends.push_back(static_cast<int32_t>(end));
      if (rows[i] == 0)
        continue;
      append(a, problem.a);
      append(exact, problem.exact);
    }
  }
};

void expect_grouped(Backend backend, const std::vector<int64_t> &rows, int64_t n, int64_t k,
                    const Partial<GroupedConfig> &given) {
  const Products products(rows, n, k);
  const Device &device = test_device();
  const auto a = device.upload(products.a).value();
  const auto ends = device.upload(products.ends).value();
  const auto b = device.upload(products.b).value();
  const auto b_scales = device.upload(products.b_scales).value();
  Buffer<uint16_t> c = device.allocate<uint16_t>(static_cast<int64_t>(products.exact.size())).value();
  ASSERT_TRUE(c.fill(0xffff).ok());
  const ProblemSize size{products.ends.back(), n, k};
  const GroupedConfig config = grouped_kernel.complete(given, size).value();
  const Stream stream = device.stream();
  const Result<LaunchRecord> launched = grouped_kernel.launch(
      {stream, options_of(backend)}, config, size, {a, ends, b, b_scales, c, static_cast<int>(rows.size())});
  ASSERT_TRUE(launched.ok()) << launched.error().text();
  ASSERT_TRUE(stream.synchronize().ok());
  const host::Comparison comparison = host::compare(c.to_host().value(), products.exact);
  EXPECT_EQ(comparison.wrong, 0) << name_of(backend) << ", first " << comparison.first_wrong.value_or(-1);
}

} // namespace

TEST(GroupedGemm, IsRightForRaggedExperts) {
  for (Backend backend : backends) {
    expect_grouped(backend, {5, 0, 33, 1, 16}, 96, 288, {.tile = {.block_m = 16, .block_n = 64}});
    expect_grouped(backend, {0, 0, 40, 0}, 64, 256,
                   {.tile = {.block_m = 32, .block_n = 32, .waves = 2}, .experts = 4});
    expect_grouped(backend, {17}, 48, 608,
                   {.tile = {.block_m = 16, .block_n = 32, .waves = 1}, .experts = 1});
  }
}

TEST(GroupedGemm, RefusesMoreExpertsThanItsConfigHas) {
  const Products products({5, 3, 8, 2, 1}, 32, 64);
  const Device &device = test_device();
  const auto a = device.upload(products.a).value();
  const auto ends = device.upload(products.ends).value();
  const auto b = device.upload(products.b).value();
  const auto b_scales = device.upload(products.b_scales).value();
  const Buffer<uint16_t> c = device.allocate<uint16_t>(products.exact.size()).value();
  const ProblemSize size{products.ends.back(), 32, 64};
  const auto launch = [&](int in_config, int experts) {
    const GroupedConfig config = grouped_kernel.complete({.experts = in_config}, size).value();
    return grouped_kernel.launch({device.stream()}, config, size, {a, ends, b, b_scales, c, experts});
  };
  for (const auto &[in_config, experts] : {std::pair{4, 5}, {1, 2}, {8, 0}, {8, -1}}) {
    const Result<LaunchRecord> launched = launch(in_config, experts);
    ASSERT_FALSE(launched.ok()) << in_config << " " << experts;
    EXPECT_EQ(launched.error().owner, Owner::User);
    EXPECT_EQ(launched.error().message, "mxfp4_grouped_gemm: " + std::to_string(experts) +
                                            " experts, its config has experts=" + std::to_string(in_config));
  }
  EXPECT_TRUE(launch(8, 5).ok());
}

TEST(GroupedGemm, BlocksSufficeForEverySplit) {
  for (int64_t block_m : {1, 16, 32})
    for (int64_t first = 0; first <= 70; first += 7)
      for (int64_t second = 0; second <= 70; second += 5) {
        const int64_t needed = blocks(first, block_m) + blocks(second, block_m) + blocks(3, block_m);
        EXPECT_LE(needed, grouped_row_blocks(first + second + 3, 3, block_m));
      }
}

TEST(BatchedGemm, IsRightForEveryMember) {
  constexpr int64_t batch = 3, m = 20, n = 80, k = 320;
  const Products products(std::vector<int64_t>(batch, m), n, k);
  const Device &device = test_device();
  const auto a = device.upload(products.a).value();
  const auto b = device.upload(products.b).value();
  const auto b_scales = device.upload(products.b_scales).value();
  const ProblemSize size{m, n, k};
  for (Backend backend : backends)
    for (const Partial<TileConfig> &given :
         {Partial<TileConfig>{}, {.block_m = 32, .block_n = 32, .block_k = 128, .waves = 2, .mfma = 32}}) {
      Buffer<uint16_t> c = device.allocate<uint16_t>(batch * m * n).value();
      ASSERT_TRUE(c.fill(0xffff).ok());
      const TileConfig config = batched_kernel.complete(given, size).value();
      const Stream stream = device.stream();
      const Result<LaunchRecord> launched = batched_kernel.launch(
          {stream, options_of(backend)}, config, size, {a, b, b_scales, c, static_cast<int>(batch)});
      ASSERT_TRUE(launched.ok()) << launched.error().text();
      ASSERT_TRUE(stream.synchronize().ok());
      EXPECT_EQ(host::compare(c.to_host().value(), products.exact).wrong, 0) << name_of(backend);
    }
}

TEST(BatchedGemm, NamesAShortOperand) {
  const Device &device = test_device();
  const Buffer<uint16_t> a = device.allocate<uint16_t>(2 * 4 * 64).value();
  const Buffer<uint8_t> b = device.allocate<uint8_t>(16 * 32).value();
  const ProblemSize size{4, 16, 64};
  const TileConfig config = batched_kernel.complete({}, size).value();
  const Result<LaunchRecord> launched =
      batched_kernel.launch({device.stream()}, config, size, {a, b, {}, {}, 2});
  ASSERT_FALSE(launched.ok());
  EXPECT_EQ(launched.error().message, "mxfp4_batched_gemm: operand b has 512 bytes where 1024 are needed");
}
