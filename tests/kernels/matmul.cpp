// Products of row-major matrices, to the bit: whole numbers whose sums are exact.
#include "kernels/matmul.h"

#include <gtest/gtest.h>

#include "dsl/elements.h"
#include "tests/kernels/backend.h"

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::kernels::test;

namespace {

/// From -1 to 1, by position: sums of up to 256 are exact in bf16.
int entry(int64_t row, int64_t column, int seed) {
  const int64_t mixed = (row * 7919 + column * 104729 + seed * 31) % 1009;
  return static_cast<int>(mixed % 3) - 1;
}

template <class T> T element_of(int value) {
  if constexpr (std::is_same_v<T, int8_t>)
    return static_cast<int8_t>(value);
  else
    return T(static_cast<float>(value));
}

template <class T> std::vector<T> matrix(int64_t rows, int64_t columns, int seed) {
  std::vector<T> result;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      result.push_back(element_of<T>(entry(r, c, seed)));
  return result;
}

template <class T, class Out>
void expect_product(Backend backend, const MatmulConfig &config, const ProblemSize &size) {
  SCOPED_TRACE(name_of(backend) + " " + config_text(config) + " " + size.text());
  const Device &device = device_of(backend);
  const Buffer<T> a = device.upload(matrix<T>(size.m, size.k, 1)).value(),
                  b = device.upload(matrix<T>(size.k, size.n, 2)).value();
  Buffer<Out> out = device.allocate<Out>(size.m * size.n).value();
  ASSERT_TRUE(out.fill(element_of<Out>(77)).ok());
  const Stream stream = device.stream();
  const auto launched = matmul_kernel.launch({stream, options_of(backend)}, config, size, {a, b, out});
  ASSERT_TRUE(launched.ok()) << launched.error().text();
  ASSERT_TRUE(stream.synchronize().ok());
  const std::vector<Out> result = out.to_host().value();
  int wrong = 0;
  for (int64_t r = 0; r < size.m; ++r)
    for (int64_t c = 0; c < size.n; ++c) {
      int sum = 0;
      for (int64_t k = 0; k < size.k; ++k)
        sum += entry(r, k, 1) * entry(k, c, 2);
      wrong += static_cast<float>(result[r * size.n + c]) != static_cast<float>(sum);
    }
  EXPECT_EQ(wrong, 0);
}

void expect_every_element(Backend backend, MatmulConfig config, const ProblemSize &size) {
  config.element = MatmulElement::F16;
  expect_product<f16, f16>(backend, config, size);
  config.element = MatmulElement::Bf16;
  expect_product<bf16, bf16>(backend, config, size);
  config.element = MatmulElement::I8;
  expect_product<int8_t, int32_t>(backend, config, size);
}

} // namespace

TEST(Matmul, OfWholeTiles) {
  for (Backend backend : {Backend::Interpreted, Backend::Checked})
    expect_every_element(backend, {.block_m = 64, .block_n = 64, .even = true}, {128, 64, 192});
}

TEST(Matmul, OfAnySize) {
  for (Backend backend : {Backend::Interpreted, Backend::Checked})
    for (const ProblemSize &size : {ProblemSize{1, 1, 1}, {70, 48, 112}, {65, 33, 17}})
      expect_every_element(backend, {.block_m = 64, .block_n = 64}, size);
}

TEST(Matmul, OfEveryTileOfTheTable) {
  for (const auto &[m, n, waves] :
       {std::array{128, 128, 4}, std::array{64, 128, 4}, std::array{128, 64, 4}, std::array{256, 256, 8}})
    for (bool even : {false, true})
      expect_product<f16, f16>(Backend::Checked, {.block_m = m, .block_n = n, .even = even, .waves = waves},
                               {even ? m : m - 16, n, even ? 192 : 176});
}

/// Of one wave LLVM leaves the barriers of an LDS pipeline out.
TEST(Matmul, OfOneWave) {
  for (const int m : {16, 32, 64})
    for (const int n : {32, 64})
      for (const int stages : {2, 3})
        for (bool even : {false, true})
          expect_product<f16, f16>(
              Backend::Checked,
              {.block_m = m, .block_n = n, .block_k = 64, .even = even, .waves = 1, .stages = stages},
              {even ? m : m - 1, n, even ? 256 : 176});
}

TEST(Matmul, RefusesSizesThatAreNotEven) {
  EXPECT_NE(matmul_kernel.complete({.even = true}, ProblemSize{100, 128, 64})
                .error()
                .text()
                .find("100x128x64 is no multiple of the blocks"),
            std::string::npos);
}
