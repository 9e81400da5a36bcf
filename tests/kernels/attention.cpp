// Attention against a host reference in double precision.
#include "kernels/attention.h"

#include <gtest/gtest.h>

#include "tests/kernels/attention_reference.h"
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

template <class C> struct Problem {
  using T = QueryElement<C>;
  Sizes size;
  AttentionWidths width;
  bool causal;
  double scale;
  std::vector<T> q;
  std::vector<C> k, v;

  Problem(const Sizes &s, const AttentionConfig &with)
      : size(s), width{with.head + with.rotary, with.head}, causal(with.causal),
        scale(1 / std::sqrt(double(width.key))),
        q(normal_values<T>(s.batch * s.queries * s.heads * width.key, 1)),
        k(normal_values<C>(s.batch * s.keys * s.key_heads * width.key, 2)),
        v(normal_values<C>(s.batch * s.keys * s.key_heads * width.value, 3)) {}

  /// Number of a query with its head, and of the key that it meets.
  int64_t query_at(int64_t b, int64_t i, int64_t h) const { return (b * size.queries + i) * size.heads + h; }
  int64_t key_at(int64_t b, int64_t j, int64_t h) const {
    return (b * size.keys + j) * size.key_heads + h / (size.heads / size.key_heads);
  }

  /// Row of query i, which sees `seen` keys from key `first` on.
  std::vector<double> row(int64_t b, int64_t i, int64_t h, int64_t first, int64_t seen) const {
    std::vector<double> out = attention_row(
        &q[query_at(b, i, h) * width.key], seen, width, scale * test_k_scale<C>,
        [&](int64_t j) { return &k[key_at(b, first + j, h) * width.key]; },
        [&](int64_t j) { return &v[key_at(b, first + j, h) * width.value]; });
    for (double &element : out)
      element *= test_v_scale<C>;
    return out;
  }
  std::vector<double> row(int64_t b, int64_t i, int64_t h) const {
    return row(b, i, h, 0,
               causal ? std::clamp<int64_t>(i + size.keys - size.queries + 1, 0, size.keys) : size.keys);
  }
};

template <class C> void expect_right(Backend backend, const Case &c) {
  using T = QueryElement<C>;
  const Problem<C> problem(c.size, c.config);
  const Device &device = device_of(backend);
  const Buffer<T> q = device.upload(problem.q).value();
  const Buffer<C> k = device.upload(problem.k).value(), v = device.upload(problem.v).value();
  Buffer<T> out = device.allocate<T>(c.size.batch * c.size.queries * c.size.heads * c.config.head).value();
  ASSERT_TRUE(out.fill(T(NAN)).ok());
  const Stream stream = device.stream();
  AttentionConfig config = c.config;
  config.element = attention_element<C>;
  AttentionOperands operands{
      q, k, v, out, c.size.batch, c.size.heads, c.size.key_heads, static_cast<float>(problem.scale)};
  operands.k_scale = test_k_scale<C>;
  operands.v_scale = test_v_scale<C>;
  const auto launched = attention_kernel.launch({stream, options_of(backend)}, config,
                                                {c.size.queries, c.size.keys, problem.width.key}, operands);
  ASSERT_TRUE(launched.ok()) << launched.error().text();
  ASSERT_TRUE(stream.synchronize().ok());
  const std::vector<T> result = out.to_host().value();
  double worst = 0;
  for (int64_t b = 0; b < c.size.batch; ++b)
    for (int64_t i = 0; i < c.size.queries; ++i)
      for (int64_t h = 0; h < c.size.heads; ++h)
        worst = worst_error(worst, &result[problem.query_at(b, i, h) * problem.width.value],
                            problem.row(b, i, h));
  EXPECT_LE(worst, attention_tolerance<C>)
      << c.size.queries << " queries, " << c.size.keys << " keys, " << config_text(c.config);
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
    for (bool causal : {false, true})
      made.push_back(
          {{1, 70, 101, 2, 1},
           {.head = 128, .rotary = 64, .causal = causal, .block_m = 64, .block_n = 32, .mfma = 16}});
    made.push_back({{2, 33, 130, 2, 2}, {.head = 128, .rotary = 64, .waves_per_eu = 1}});
    return made;
  }();
  return list;
}

class Attention : public ::testing::TestWithParam<Backend> {};

} // namespace

TEST_P(Attention, AgreesWithDoublePrecisionInF16) {
  for (const Case &c : cases())
    expect_right<f16>(GetParam(), c);
}

TEST_P(Attention, AgreesWithDoublePrecisionInBf16) {
  for (const Case &c : cases())
    expect_right<bf16>(GetParam(), c);
}

TEST_P(Attention, KeysAndValuesMayBeFp8) {
  for (Case c : cases()) {
    c.config.block_n = std::max(c.config.block_n, 64);
    expect_right<fp8>(GetParam(), c);
  }
}

// Sequences behind each other, some without queries or keys, none with as many as the size says.
TEST_P(Attention, SequencesMayHaveLengthsOfTheirOwn) {
  const std::vector<int32_t> query_starts{0, 37, 37, 38, 108}, key_starts{0, 101, 150, 150, 183};
  const int64_t heads = 2, key_heads = 1, queries = query_starts.back(), keys = key_starts.back();
  const Device &device = device_of(GetParam());
  for (bool causal : {false, true}) {
    const AttentionConfig config{
        .head = 64, .causal = causal, .ragged = true, .block_m = 64, .block_n = 32, .mfma = 16};
    const Problem<bf16> problem({1, queries, keys, heads, key_heads}, config);
    const auto q = device.upload(problem.q).value(), k = device.upload(problem.k).value(),
               v = device.upload(problem.v).value();
    const auto starts = device.upload(query_starts).value(), ends = device.upload(key_starts).value();
    Buffer<bf16> out = device.allocate<bf16>(problem.q.size()).value();
    ASSERT_TRUE(out.fill(bf16(NAN)).ok());
    AttentionOperands operands{q, k, v, out, 4, heads, key_heads, static_cast<float>(problem.scale)};
    operands.query_starts = starts;
    operands.key_starts = ends;
    operands.queries = queries;
    operands.keys = keys;
    const Stream stream = device.stream();
    const auto launched =
        attention_kernel.launch({stream, options_of(GetParam())}, config, {80, 110, 64}, operands);
    ASSERT_TRUE(launched.ok()) << launched.error().text();
    ASSERT_TRUE(stream.synchronize().ok());
    const std::vector<bf16> result = out.to_host().value();
    double worst = 0;
    for (size_t b = 0; b + 1 < query_starts.size(); ++b) {
      const int64_t first = query_starts[b], m = query_starts[b + 1] - first;
      const int64_t first_key = key_starts[b], n = key_starts[b + 1] - first_key;
      for (int64_t i = 0; i < m; ++i)
        for (int64_t h = 0; h < heads; ++h) {
          const int64_t seen = causal ? std::clamp<int64_t>(i + n - m + 1, 0, n) : n;
          worst = worst_error(worst, &result[problem.query_at(0, first + i, h) * problem.width.value],
                              problem.row(0, first + i, h, first_key, seen));
        }
    }
    EXPECT_LE(worst, 3e-2) << config_text(config);
  }
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
  AttentionOperands scaled;
  scaled.k_scale = NAN;
  EXPECT_NE(error_of({16, 16, 128}, scaled).find("k_scale=nan is not above 0"), std::string::npos);
  scaled.k_scale = 2;
  EXPECT_NE(error_of({16, 16, 128}, scaled).find("k_scale=2 without element=fp8"), std::string::npos);
  EXPECT_NE(error_of({16, 16, 128}, {}).find("q"), std::string::npos); // null
  EXPECT_NE(attention_kernel.complete({.head = 96}, {}).error().text().find("use 64 or 128"),
            std::string::npos);
  EXPECT_NE(attention_kernel.complete({.block_m = 64}, {}).error().text().find("less than 32 rows"),
            std::string::npos);
}
