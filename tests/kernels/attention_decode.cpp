// Attention of few queries on a cache, against a host reference in double precision.
#include "kernels/attention_decode.h"

#include <gtest/gtest.h>

#include "tests/kernels/attention_reference.h"
#include "tests/kernels/backend.h"

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::kernels::test;

namespace {

struct Sizes {
  int64_t queries, room, heads, key_heads;
  std::vector<int32_t> lengths;

  int64_t batch() const { return static_cast<int64_t>(lengths.size()); }
};

template <class C> struct Problem {
  using T = QueryElement<C>;
  Sizes size;
  AttentionDecodeConfig config;
  int64_t d = config.head;
  double scale = 1 / std::sqrt(double(d));
  int64_t entries = config.page > 0 ? (size.room + config.page - 1) / config.page : 0;
  int64_t pages = size.batch() * entries + 3;
  std::vector<T> q;
  std::vector<C> k, v;
  std::vector<int32_t> table;

  Problem(Sizes s, const AttentionDecodeConfig &with) : size(std::move(s)), config(with) {
    const int64_t keys = with.page > 0 ? pages * with.page : size.batch() * size.room;
    q = normal_values<T>(size.batch() * size.queries * size.heads * d, 1);
    k = normal_values<C>(keys * size.key_heads * d, 2);
    v = normal_values<C>(keys * size.key_heads * d, 3);
    // Pages of all sequences in a scattered order.
    for (int64_t i = 0; i < size.batch() * entries; ++i)
      table.push_back(static_cast<int32_t>(i * 7 % (size.batch() * entries)) + 1);
    if (size.batch() * entries % 7 == 0)
      for (size_t i = 0; i < table.size(); ++i)
        table[i] = static_cast<int32_t>(table.size() - i);
  }

  int64_t key_at(int64_t b, int64_t j, int64_t h) const {
    const int64_t place = config.page > 0
                              ? table[b * entries + j / config.page] * int64_t{config.page} + j % config.page
                              : b * size.room + j;
    return (place * size.key_heads + h / (size.heads / size.key_heads)) * d;
  }

  int64_t row_at(int64_t b, int64_t i, int64_t h) const {
    return ((b * size.queries + i) * size.heads + h) * d;
  }

  std::vector<double> row(int64_t b, int64_t i, int64_t h) const {
    const int64_t length = size.lengths[b];
    const int64_t seen =
        config.causal ? std::clamp<int64_t>(i + length - size.queries + 1, 0, length) : length;
    std::vector<double> out = attention_row(
        &q[row_at(b, i, h)], seen, {d, d}, scale * test_k_scale<C>,
        [&](int64_t j) { return &k[key_at(b, j, h)]; }, [&](int64_t j) { return &v[key_at(b, j, h)]; });
    for (double &element : out)
      element *= test_v_scale<C>;
    return out;
  }
};

template <class C> void expect_right(Backend backend, const Sizes &size, AttentionDecodeConfig config) {
  using T = QueryElement<C>;
  config.element = attention_element<C>;
  SCOPED_TRACE(name_of(backend) + " " + config_text(config));
  const Problem<C> problem(size, config);
  const Device &device = device_of(backend);
  const auto q = device.upload(problem.q).value(), k = device.upload(problem.k).value(),
             v = device.upload(problem.v).value();
  const auto lengths = device.upload(size.lengths).value();
  const auto table = device.upload(problem.table.empty() ? std::vector<int32_t>{0} : problem.table).value();
  Buffer<T> out = device.allocate<T>(problem.q.size()).value();
  ASSERT_TRUE(out.fill(T(NAN)).ok());
  const int64_t rows = size.batch() * size.queries * size.heads;
  const auto parts = device.allocate<float>(config.split_k * rows * problem.d).value(),
             sums = device.allocate<float>(config.split_k * rows).value();
  const AttentionDecodeOperands operands{.q = q,
                                         .k = k,
                                         .v = v,
                                         .lengths = lengths,
                                         .table = table,
                                         .out = out,
                                         .parts = parts,
                                         .sums = sums,
                                         .batch = size.batch(),
                                         .heads = size.heads,
                                         .key_heads = size.key_heads,
                                         .pages = problem.pages,
                                         .scale = static_cast<float>(problem.scale),
                                         .k_scale = test_k_scale<C>,
                                         .v_scale = test_v_scale<C>};
  const Stream stream = device.stream();
  const LaunchTarget target{stream, options_of(backend)};
  const ProblemSize shape{size.queries, size.room, problem.d};
  const auto decoded = attention_decode_kernel.launch(target, config, shape, operands);
  ASSERT_TRUE(decoded.ok()) << decoded.error().text();
  if (config.split_k > 1) {
    const auto combined = attention_combine_kernel.launch(target, config, shape, operands);
    ASSERT_TRUE(combined.ok()) << combined.error().text();
  }
  ASSERT_TRUE(stream.synchronize().ok());
  const std::vector<T> result = out.to_host().value();
  double worst = 0;
  for (int64_t b = 0; b < size.batch(); ++b)
    for (int64_t i = 0; i < size.queries; ++i)
      for (int64_t h = 0; h < size.heads; ++h)
        worst = worst_error(worst, &result[problem.row_at(b, i, h)], problem.row(b, i, h));
  EXPECT_LE(worst, attention_tolerance<C>);
}

class AttentionDecode : public ::testing::TestWithParam<Backend> {};

} // namespace

// Lengths within a block, at its end, behind it, none; heads that fill no block of rows.
TEST_P(AttentionDecode, SequencesHaveLengthsOfTheirOwn) {
  const Sizes size{1, 150, 8, 2, {150, 64, 0, 1, 97}};
  for (int head : {64, 128})
    expect_right<bf16>(GetParam(), size, {.head = head});
  expect_right<f16>(GetParam(), size, {.block_n = 32, .stages = 3});
}

// A cache with room for one key: LLVM leaves out the loop over whole blocks.
TEST_P(AttentionDecode, ARoomOfOneKey) {
  const Sizes size{3, 1, 2, 1, {1, 0}};
  for (int head : {64, 128})
    for (bool causal : {false, true})
      expect_right<bf16>(GetParam(), size, {.head = head, .causal = causal});
}

TEST_P(AttentionDecode, PartsOfTheKeysComeTogether) {
  const Sizes size{1, 300, 6, 2, {300, 65, 0, 2}};
  for (int split_k : {2, 5})
    expect_right<bf16>(GetParam(), size, {.split_k = split_k});
  expect_right<f16>(GetParam(), size, {.head = 64, .split_k = 3});
}

TEST_P(AttentionDecode, SeveralQueriesSeeKeysUpToTheirOwn) {
  const Sizes size{3, 100, 12, 1, {100, 2, 64, 66}};
  for (int split_k : {1, 2})
    expect_right<bf16>(GetParam(), size, {.causal = true, .split_k = split_k});
  expect_right<f16>(GetParam(), {40, 90, 2, 2, {90, 33}}, {.head = 64, .causal = true});
}

TEST_P(AttentionDecode, KeysLieInPages) {
  const Sizes size{1, 150, 4, 2, {150, 64, 0, 1, 97}};
  for (int page : {1, 16, 64, 100, 128})
    expect_right<bf16>(GetParam(), size, {.page = page});
  for (int stages : {2, 3, 4})
    expect_right<bf16>(GetParam(), {1, 400, 2, 1, {400, 256, 31}},
                       {.head = 64, .block_n = 32, .page = 32 << stages % 2, .stages = stages});
  expect_right<f16>(GetParam(), {2, 100, 4, 1, {100, 37}}, {.causal = true, .split_k = 2, .page = 16});
}

TEST_P(AttentionDecode, KeysAndValuesMayBeFp8) {
  const Sizes size{1, 150, 8, 2, {150, 64, 0, 1, 97}};
  for (int head : {64, 128})
    for (int block_n : {64, 128})
      expect_right<fp8>(GetParam(), size, {.head = head, .block_n = block_n});
  for (int page : {16, 64, 128})
    expect_right<fp8>(GetParam(), size, {.page = page});
  expect_right<fp8>(GetParam(), {3, 1, 2, 1, {1, 0}}, {.head = 64, .causal = true});
  expect_right<fp8>(GetParam(), {3, 300, 12, 1, {300, 2, 64, 66}},
                    {.causal = true, .block_n = 128, .split_k = 3, .stages = 3});
  expect_right<fp8>(GetParam(), size, {.block_m = 64, .mfma = 32});
}

INSTANTIATE_TEST_SUITE_P(Backends, AttentionDecode, ::testing::Values(Backend::Interpreted, Backend::Checked),
                         [](const auto &info) { return name_of(info.param); });

TEST(AttentionDecodeErrors, AreTheUsers) {
  const Stream stream = test_device().stream();
  const auto error_of = [&](const ProblemSize &size, const AttentionDecodeOperands &operands) {
    const auto launched = attention_decode_kernel.launch({stream}, {}, size, operands);
    EXPECT_FALSE(launched.ok());
    return launched.ok() ? std::string() : launched.error().text();
  };
  EXPECT_NE(error_of({1, 16, 128}, {.heads = 3, .key_heads = 2}).find("3 heads on 2 key heads"),
            std::string::npos);
  EXPECT_NE(error_of({1, 16, 128}, {.batch = 0}).find("a batch of 0"), std::string::npos);
  EXPECT_NE(error_of({1, 16, 128}, {.scale = -1}).find("the scale -1"), std::string::npos);
  EXPECT_NE(error_of({1, 16, 128}, {.k_scale = 0}).find("k_scale=0 is not above 0"), std::string::npos);
  EXPECT_NE(error_of({1, 16, 128}, {.v_scale = INFINITY}).find("v_scale=inf"), std::string::npos);
  EXPECT_NE(error_of({1, 16, 128}, {.v_scale = 2}).find("v_scale=2 without element=fp8"), std::string::npos);
  EXPECT_NE(error_of({1, 16, 128}, {}).find("q"), std::string::npos); // null
  EXPECT_NE(attention_decode_kernel.complete({.element = AttentionElement::Fp8, .block_n = 32}, {})
                .error()
                .text()
                .find("block_n=32 is no multiple of 64"),
            std::string::npos);
  EXPECT_NE(attention_decode_kernel.complete({.head = 96}, {}).error().text().find("use 64 or 128"),
            std::string::npos);
  EXPECT_NE(attention_decode_kernel.complete({.block_m = 16}, {}).error().text().find("less than 16 rows"),
            std::string::npos);
}
