#include <gtest/gtest.h>

#include "jit/kernel.h"
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

uint32_t programs(int64_t size, int64_t block) { return static_cast<uint32_t>(blocks(size, block)); }

void expect_grouped(Backend backend, const std::vector<int64_t> &rows, int64_t n, int64_t k,
                    const GroupedConfig &config) {
  const Products products(rows, n, k);
  const Device &device = test_device();
  const auto a = device.upload(products.a).value();
  const auto ends = device.upload(products.ends).value();
  const auto b = device.upload(products.b).value();
  const auto b_scales = device.upload(products.b_scales).value();
  Buffer<uint16_t> c = device.allocate<uint16_t>(static_cast<int64_t>(products.exact.size())).value();
  ASSERT_TRUE(c.fill(0xffff).ok());
  static const Kernel kernel("mxfp4_grouped_gemm", mxfp4_grouped_gemm);
  const auto experts = static_cast<int64_t>(rows.size());
  const auto row_blocks =
      static_cast<uint32_t>(grouped_row_blocks(products.ends.back(), experts, config.block_m));
  const Stream stream = device.stream();
  const Result<LaunchInfo> launched = kernel.launch(
      options_of(backend), stream, {programs(n, config.block_n), row_blocks, 1}, config, a, ends, b, b_scales,
      c, static_cast<int32_t>(experts), static_cast<int32_t>(n), static_cast<int32_t>(k));
  ASSERT_TRUE(launched.ok()) << launched.error().text();
  ASSERT_TRUE(stream.synchronize().ok());
  const host::Comparison comparison = host::compare(c.to_host().value(), products.exact);
  EXPECT_EQ(comparison.wrong, 0) << name_of(backend) << ", first " << comparison.first_wrong.value_or(-1);
}

} // namespace

TEST(GroupedGemm, IsRightForRaggedExperts) {
  for (Backend backend : backends) {
    expect_grouped(backend, {5, 0, 33, 1, 16}, 96, 288, {.block_n = 64});
    expect_grouped(backend, {0, 0, 40, 0}, 64, 256, {.block_m = 32, .block_n = 32, .waves = 2, .experts = 4});
    expect_grouped(backend, {17}, 48, 608, {.block_n = 32, .waves = 1, .experts = 1});
  }
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
  static const Kernel kernel("mxfp4_batched_gemm", mxfp4_batched_gemm);
  for (Backend backend : backends)
    for (const GroupedConfig &config :
         {GroupedConfig{},
          GroupedConfig{.block_m = 32, .block_n = 32, .block_k = 128, .waves = 2, .mfma = 32}}) {
      Buffer<uint16_t> c = device.allocate<uint16_t>(batch * m * n).value();
      ASSERT_TRUE(c.fill(0xffff).ok());
      const Stream stream = device.stream();
      const Result<LaunchInfo> launched = kernel.launch(
          options_of(backend), stream,
          {programs(n, config.block_n), programs(m, config.block_m), static_cast<uint32_t>(batch)}, config, a,
          b, b_scales, c, static_cast<int32_t>(m), static_cast<int32_t>(n), static_cast<int32_t>(k));
      ASSERT_TRUE(launched.ok()) << launched.error().text();
      ASSERT_TRUE(stream.synchronize().ok());
      EXPECT_EQ(host::compare(c.to_host().value(), products.exact).wrong, 0) << name_of(backend);
    }
}
