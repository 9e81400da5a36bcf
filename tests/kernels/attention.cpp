// Attention against a host reference in double precision.
#include "kernels/attention.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <gtest/gtest.h>

#include "dsl/elements.h"
#include "kernels/host/random.h"
#include "tests/kernels/backend.h"

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::kernels::test;

namespace {

struct Sizes {
  int64_t batch = 1, queries = 0, keys = 0, heads = 1, key_heads = 1;
};

struct Case {
  Sizes size;
  AttentionConfig config = {};
};

template <class T> std::vector<T> values(int64_t count, int seed) {
  const std::vector<uint16_t> bits = host::normal_bf16(count, seed);
  std::vector<T> result;
  for (uint16_t pattern : bits) {
    bf16 value;
    static_assert(sizeof value == sizeof pattern);
    std::memcpy(&value, &pattern, sizeof value);
    result.push_back(T(float(value)));
  }
  return result;
}

template <class T> struct Problem {
  Sizes size;
  int64_t d;
  bool causal;
  double scale;
  std::vector<T> q, k, v;

  Problem(const Sizes &s, const AttentionConfig &c)
      : size(s), d(c.head), causal(c.causal), scale(1 / std::sqrt(double(d))),
        q(values<T>(s.batch * s.queries * s.heads * d, 1)),
        k(values<T>(s.batch * s.keys * s.key_heads * d, 2)),
        v(values<T>(s.batch * s.keys * s.key_heads * d, 3)) {}

  const T *query(int64_t b, int64_t i, int64_t h) const {
    return &q[((b * size.queries + i) * size.heads + h) * d];
  }
  int64_t key_at(int64_t b, int64_t j, int64_t h) const {
    return ((b * size.keys + j) * size.key_heads + h / (size.heads / size.key_heads)) * d;
  }

  /// One row of the output; zeros without keys.
  std::vector<double> row(int64_t b, int64_t i, int64_t h) const {
    const int64_t seen =
        causal ? std::clamp<int64_t>(i + size.keys - size.queries + 1, 0, size.keys) : size.keys;
    std::vector<double> scores(seen), out(d, 0);
    double highest = -INFINITY, total = 0;
    for (int64_t j = 0; j < seen; ++j) {
      const T *x = query(b, i, h), *y = &k[key_at(b, j, h)];
      for (int64_t e = 0; e < d; ++e)
        scores[j] += scale * float(x[e]) * float(y[e]);
      highest = std::max(highest, scores[j]);
    }
    for (int64_t j = 0; j < seen; ++j) {
      const double p = std::exp(scores[j] - highest);
      total += p;
      for (int64_t e = 0; e < d; ++e)
        out[e] += p * float(v[key_at(b, j, h) + e]);
    }
    for (double &value : out)
      value = seen > 0 ? value / total : 0;
    return out;
  }
};

template <class T> void expect_right(Backend backend, const Case &c, double tolerance) {
  const Problem<T> problem(c.size, c.config);
  const Device &device = device_of(backend);
  const Buffer<T> q = device.upload(problem.q).value(), k = device.upload(problem.k).value(),
                  v = device.upload(problem.v).value();
  Buffer<T> out = device.allocate<T>(problem.q.size()).value();
  ASSERT_TRUE(out.fill(T(NAN)).ok());
  const Stream stream = device.stream();
  AttentionConfig config = c.config;
  config.element = std::is_same_v<T, f16> ? AttentionElement::F16 : AttentionElement::Bf16;
  const AttentionOperands operands{
      q, k, v, out, c.size.batch, c.size.heads, c.size.key_heads, static_cast<float>(problem.scale)};
  const auto launched = attention_kernel.launch({stream, options_of(backend)}, config,
                                                {c.size.queries, c.size.keys, problem.d}, operands);
  ASSERT_TRUE(launched.ok()) << launched.error().text();
  ASSERT_TRUE(stream.synchronize().ok());
  const std::vector<T> result = out.to_host().value();
  double worst = 0;
  for (int64_t b = 0; b < c.size.batch; ++b)
    for (int64_t i = 0; i < c.size.queries; ++i)
      for (int64_t h = 0; h < c.size.heads; ++h) {
        const std::vector<double> expected = problem.row(b, i, h);
        const T *row = &result[((b * c.size.queries + i) * c.size.heads + h) * problem.d];
        for (int64_t e = 0; e < problem.d; ++e) {
          const double error = std::fabs(double(float(row[e])) - expected[e]);
          worst = std::isnan(error) ? INFINITY : std::max(worst, error);
        }
      }
  EXPECT_LE(worst, tolerance) << c.size.queries << " queries, " << c.size.keys << " keys, "
                              << config_text(c.config);
}

const std::vector<Case> &cases() {
  static const std::vector<Case> list = [] {
    std::vector<Case> made;
    const AttentionConfig small{.block_m = 64, .block_n = 32, .mfma = 16};
    for (int d : {64, 128})
      for (bool causal : {false, true})
        for (Sizes size : {Sizes{1, 64, 64, 1, 1},
                           {1, 1, 1, 1, 1},
                           {2, 37, 101, 2, 1},
                           {1, 70, 3, 2, 2},
                           {1, 1, 130, 4, 2}}) {
          AttentionConfig config = small;
          config.head = d;
          config.causal = causal;
          made.push_back({size, config});
        }
    made.push_back({{1, 150, 330, 2, 1}, {.head = 64, .causal = true}});
    made.push_back({{1, 130, 197, 1, 1}, {.head = 128}});
    made.push_back({{1, 70, 290, 1, 1}, {.head = 128, .causal = true, .stages = 3}});
    return made;
  }();
  return list;
}

class Attention : public ::testing::TestWithParam<Backend> {};

} // namespace

// Values are normal: an output is a mean of them, P is rounded to the element, and so is the output.
TEST_P(Attention, AgreesWithDoublePrecisionInF16) {
  for (const Case &c : cases())
    expect_right<f16>(GetParam(), c, 4e-3);
}

TEST_P(Attention, AgreesWithDoublePrecisionInBf16) {
  for (const Case &c : cases())
    expect_right<bf16>(GetParam(), c, 3e-2);
}

INSTANTIATE_TEST_SUITE_P(Backends, Attention, ::testing::Values(Backend::Interpreted, Backend::Checked),
                         [](const auto &info) { return name_of(info.param); });

TEST(AttentionErrors, AreTheUsers) {
  const Device &device = test_device();
  const Stream stream = device.stream();
  const auto error_of = [&](const ProblemSize &size, const AttentionOperands &operands) {
    const auto launched = attention_kernel.launch({stream}, {}, size, operands);
    EXPECT_FALSE(launched.ok());
    return launched.ok() ? std::string() : launched.error().text();
  };
  EXPECT_NE(error_of({16, 16, 128}, {.heads = 3, .key_heads = 2}).find("3 heads on 2 key heads"),
            std::string::npos);
  EXPECT_NE(error_of({0, 16, 128}, {}).find("1 x 0 queries and 16 keys"), std::string::npos);
  EXPECT_NE(error_of({16, 16, 128}, {.scale = -1}).find("the scale -1"), std::string::npos);
  EXPECT_NE(error_of({16, 16, 128}, {}).find("q"), std::string::npos); // null
  EXPECT_NE(attention_kernel.complete({.head = 96}, {}).error().text().find("use 64 or 128"),
            std::string::npos);
  EXPECT_NE(attention_kernel.complete({.block_m = 64}, {}).error().text().find("less than 32 rows"),
            std::string::npos);
}
