// Decoding with multi-head latent attention against a host reference in double precision.
#include "kernels/mla_decode.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "kernels/host/formats.h"
#include "kernels/host/random.h"
#include "tests/kernels/backend.h"

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::kernels::test;

namespace {

struct Problem {
  int64_t heads, capacity;
  std::vector<int32_t> lengths;
  std::vector<uint16_t> q, cache;
  double scale = 1 / std::sqrt(double{mla_row});

  Problem(int64_t h, int64_t n, std::vector<int32_t> of)
      : heads(h), capacity(n), lengths(std::move(of)), q(host::normal_bf16(sequences() * h * mla_row, 1)),
        cache(host::normal_bf16(sequences() * n * mla_row, 2)) {}

  int64_t sequences() const { return static_cast<int64_t>(lengths.size()); }

  /// One head's output; zeros without keys.
  std::vector<double> head(int64_t sequence, int64_t number) const {
    const int64_t length = lengths[sequence];
    const uint16_t *x = &q[(sequence * heads + number) * mla_row];
    const auto key = [&](int64_t j) { return &cache[(sequence * capacity + j) * mla_row]; };
    std::vector<double> scores(length), out(mla_latent, 0);
    double highest = -INFINITY, total = 0;
    for (int64_t j = 0; j < length; ++j) {
      for (int64_t e = 0; e < mla_row; ++e)
        scores[j] += scale * host::bf16_to_float(x[e]) * host::bf16_to_float(key(j)[e]);
      highest = std::max(highest, scores[j]);
    }
    for (int64_t j = 0; j < length; ++j) {
      const double weight = std::exp(scores[j] - highest);
      total += weight;
      for (int64_t e = 0; e < mla_latent; ++e)
        out[e] += weight * host::bf16_to_float(key(j)[e]);
    }
    for (double &value : out)
      value = length > 0 ? value / total : 0;
    return out;
  }
};

void expect_right(Backend backend, const Problem &problem, const MlaDecodeConfig &config) {
  SCOPED_TRACE(name_of(backend) + " " + config_text(config));
  const Device &device = device_of(backend);
  const int64_t m = problem.sequences(), rows = m * problem.heads;
  const auto q = device.upload(problem.q).value(), cache = device.upload(problem.cache).value();
  const auto lengths = device.upload(problem.lengths).value();
  Buffer<uint16_t> out = device.allocate<uint16_t>(rows * mla_latent).value();
  ASSERT_TRUE(out.fill(0xffff).ok());
  const auto parts = device.allocate<float>(config.split_k * rows * mla_latent).value(),
             sums = device.allocate<float>(config.split_k * rows).value();
  const MlaDecodeOperands operands{q,     cache, lengths,       out,
                                   parts, sums,  problem.heads, static_cast<float>(problem.scale)};
  const ProblemSize size{m, problem.capacity, mla_row};
  const Stream stream = device.stream();
  const LaunchTarget target{stream, options_of(backend)};
  const auto decoded = mla_decode_kernel.launch(target, config, size, operands);
  ASSERT_TRUE(decoded.ok()) << decoded.error().text();
  if (config.split_k > 1) {
    const auto combined = mla_combine_kernel.launch(target, config, size, operands);
    ASSERT_TRUE(combined.ok()) << combined.error().text();
  }
  ASSERT_TRUE(stream.synchronize().ok());
  const std::vector<uint16_t> result = out.to_host().value();
  double worst = 0;
  for (int64_t sequence = 0; sequence < m; ++sequence)
    for (int64_t head = 0; head < problem.heads; ++head) {
      const std::vector<double> expected = problem.head(sequence, head);
      for (int64_t e = 0; e < mla_latent; ++e) {
        const double value = host::bf16_to_float(result[(sequence * problem.heads + head) * mla_latent + e]);
        const double error = std::fabs(value - expected[e]);
        worst = std::isnan(error) ? INFINITY : std::max(worst, error);
      }
    }
  EXPECT_LE(worst, 1e-2);
}

} // namespace

TEST(MlaDecode, AgreesWithDoublePrecision) {
  const Problem problem(64, 140, {140, 37, 0, 1, 128});
  for (Backend backend : {Backend::Interpreted, Backend::Checked})
    for (int split_k : {1, 3})
      for (int block_n : {32, 64})
        expect_right(backend, problem, {.block_n = block_n, .split_k = split_k});
}

TEST(MlaDecode, TakesAnyNumberOfHeads) {
  expect_right(Backend::Checked, Problem(20, 70, {70}), {});
  expect_right(Backend::Checked, Problem(16, 64, {33, 64}), {.block_m = 16, .waves = 1});
}

TEST(MlaDecode, RefusesWhatItDoesNotTake) {
  EXPECT_NE(mla_decode_kernel.complete({.block_m = 32}, {}).error().text().find("is not 16 rows"),
            std::string::npos);
  const Stream stream = test_device().stream();
  EXPECT_NE(mla_decode_kernel.launch({stream}, {}, {1, 16, mla_row}, {.heads = 2000})
                .error()
                .text()
                .find("2000 heads"),
            std::string::npos);
}
