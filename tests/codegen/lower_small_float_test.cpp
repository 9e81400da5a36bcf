// fp8 and bf8: every value, moved, converted and multiplied, compiled and interpreted, against the host.
#include <cmath>

#include "tests/codegen/lower_traced.h"
#include "tests/support/exact_numbers.h"

namespace nereid::lowering_test {
namespace {

std::vector<uint8_t> every_code() {
  std::vector<uint8_t> codes(256);
  for (size_t i = 0; i < codes.size(); ++i)
    codes[i] = static_cast<uint8_t>(i);
  return codes;
}

/// The number of a code by the definition of its format; a NaN for a NaN.
float value_of(ir::Element element, uint8_t code) {
  const test::Exact x = test::exact_of(element, code);
  if (x.kind == test::Exact::Kind::Nan)
    return NAN;
  const float magnitude = x.kind == test::Exact::Kind::Infinite
                              ? INFINITY
                              : std::ldexp(static_cast<float>(x.magnitude), x.exponent);
  return x.negative ? -magnitude : magnitude;
}

template <class T> constexpr ir::Element element = element_of<T>;

/// The C++ types of the host are the elements.
template <class T> void check_host_type() {
  for (const uint8_t code : every_code()) {
    const float value = value_of(element<T>, code), host = T::from_bits(code);
    EXPECT_TRUE(host == value || (std::isnan(host) && std::isnan(value))) << int{code};
    if (!std::isnan(value)) {
      EXPECT_EQ(T(value).bits, code);
      EXPECT_EQ(T(static_cast<double>(value)).bits, code);
    }
  }
  for (const uint64_t bits : test::edge_bits(ir::Element::F32)) {
    const auto value = std::bit_cast<float>(static_cast<uint32_t>(bits));
    const uint64_t wanted = test::rounded(test::exact_of(ir::Element::F32, bits), element<T>);
    EXPECT_TRUE(T(value).bits == wanted || (test::is_nan(element<T>, wanted) && std::isnan(float{T(value)})))
        << value;
  }
}

TEST(SmallFloat, HostTypesRoundAsTheFormatsSay) {
  check_host_type<fp8>();
  check_host_type<bf8>();
  EXPECT_EQ(float{fp8(448)}, 448.0F);
  EXPECT_EQ(float{fp8(464)}, 448.0F);
  EXPECT_TRUE(std::isnan(float{fp8(464.1F)}));
  EXPECT_TRUE(std::isnan(float{fp8(INFINITY)}));
  EXPECT_EQ(float{bf8(61439.0)}, 57344.0F);
  EXPECT_EQ(float{bf8(61440)}, INFINITY);
  EXPECT_EQ(fp8(0x1p-10F).bits, 0); // a tie
  EXPECT_EQ(fp8(0x1.8p-10F).bits, 1);
  EXPECT_EQ(fp8(-0.0F).bits, 0x80);
}

/// Every code to f32, f16, bf16 and truth values, and back.
template <class T> void check_conversions(int waves, int columns) {
  const auto kernel = [](const TileConfig &c, Ptr<const T> x, Ptr<f32> single, Ptr<f16> half, Ptr<bf16> brain,
                         Ptr<i1> truth, Ptr<T> back, Ptr<T> from_half) {
    const Tile<i32> i = program_id(0) * c.columns + arange(0, c.columns);
    const Tile<T> v = load(x + i);
    store(single + i, v.template to<f32>());
    store(half + i, v.template to<f16>());
    store(brain + i, v.template to<bf16>());
    store(truth + i, v.template to<i1>());
    store(back + i, v.template to<f32>().template to<T>());
    store(from_half + i, v.template to<f16>().template to<T>());
  };
  const ir::Function function = traced(kernel, TileConfig{1, columns, 1, 0, waves});
  const std::vector<Argument> arguments = {buffer(every_code()), {Bytes(1024)}, {Bytes(512)}, {Bytes(512)},
                                           {Bytes(256)},         {Bytes(256)},  {Bytes(256)}};
  const codegen::testing::Grid grid = {static_cast<uint32_t>(256 / columns), 1, 1};
  expect_same(function, grid, arguments,
              {{1, ir::Element::F32},
               {2, ir::Element::F16},
               {3, ir::Element::BF16},
               {5, element<T>},
               {6, element<T>}});
  const Result<Outcome> outcome = run_interpreted(function, grid, arguments);
  ASSERT_TRUE(outcome.ok()) << outcome.error().text();
  for (size_t code = 0; code < 256; ++code) {
    const float value = value_of(element<T>, static_cast<uint8_t>(code));
    const auto same = [&](float given) { return given == value || (std::isnan(given) && std::isnan(value)); };
    EXPECT_TRUE(same(outcome->values<float>(1)[code])) << code;
    EXPECT_TRUE(same(outcome->values<f16>(2)[code])) << code;
    EXPECT_TRUE(same(outcome->values<bf16>(3)[code])) << code;
    EXPECT_EQ(outcome->values<uint8_t>(4)[code], value != 0) << code;
    if (!std::isnan(value)) {
      EXPECT_EQ(outcome->values<uint8_t>(5)[code], code);
      EXPECT_EQ(outcome->values<uint8_t>(6)[code], code);
    }
  }
}

TEST(SmallFloat, EveryValueConvertsThereAndBack) {
  for (const int waves : {1, 4})
    for (const int columns : {256, 64, 16, 1}) {
      check_conversions<fp8>(waves, columns);
      check_conversions<bf8>(waves, columns);
    }
}

TEST(SmallFloat, ConversionsTakeAnInstructionForTwo) {
  const auto widened = [](const TileConfig &c, Ptr<const fp8> x, Ptr<f32> z) {
    const Tile<i32> i = arange(0, c.columns);
    store(z + i, load(x + i).to<f32>() * 2);
  };
  const auto rounded = [](const TileConfig &c, Ptr<const f32> x, Ptr<fp8> z) {
    const Tile<i32> i = arange(0, c.columns);
    store(z + i, load(x + i).to<fp8>());
  };
  const auto count = [](const std::string &text, const std::string &word) {
    size_t found = 0;
    for (size_t at = 0; (at = text.find(word, at)) != std::string::npos; ++at)
      ++found;
    return found;
  };
  const auto aligned = [](const auto &kernel, const TileConfig &c) {
    const ArgumentFacts facts{.divisibility = 16};
    Result<ir::Function> function = trace("kernel", kernel, c, {facts, facts});
    EXPECT_TRUE(function.ok()) << function.error().text();
    return codegen::testing::assembly(*function);
  };
  const TileConfig c{1, 512, 1, 0, 1}; // 8 a lane
  EXPECT_EQ(count(aligned(widened, c), "v_cvt_pk_f32_fp8"), 4u);
  EXPECT_EQ(count(aligned(widened, c), "v_cvt_f32_fp8"), 0u);
  const std::string text = aligned(rounded, c);
  EXPECT_EQ(count(text, "v_cvt_pk_fp8_f32"), 4u);
  EXPECT_EQ(count(text, "v_perm_b32") + count(text, "v_lshrrev") + count(text, "v_or_b32"), 0u) << text;
}

/// Moved by shapes, masks, where, gather, loops and constants without a conversion.
template <class T> void check_moves(int waves) {
  const auto kernel = [](const TileConfig &c, Ptr<const T> x, Ptr<T> z, Int n) {
    const Tile<i32> i = nereid::rows(c.rows) * c.columns + cols(c.columns);
    const Tile<T> loaded = load(x + i, i < n, 1.5F);
    Var<Tile<T>> v = trans(loaded);
    for (Int k : range(0, 3)) {
      (void)k;
      v = where(trans(i) % 5 == 0, -2, flip(v, 0));
    }
    store(z + i, trans(v));
    const Tile<i32> after = i + c.rows * c.columns;
    store(z + after, gather(loaded, broadcast(cols(c.columns) / 2, {c.rows, c.columns}), 1));
    store(z + (after + c.rows * c.columns), reshape(full<T>({c.rows * c.columns}, 3), {c.rows, c.columns}));
  };
  const int rows = 8, columns = 32, count = rows * columns, n = 200;
  const TileConfig c{rows, columns, 1, 0, waves};
  std::vector<uint8_t> x = every_code(), expected(3 * count);
  std::replace_if(
      x.begin(), x.end(), [](uint8_t code) { return std::isnan(value_of(element<T>, code)); }, uint8_t{0});
  const auto at = [&](int r, int k) {
    return r * columns + k < n ? x[static_cast<size_t>(r * columns + k)] : T(1.5F).bits;
  };
  for (int r = 0; r < rows; ++r)
    for (int k = 0; k < columns; ++k) {
      uint8_t chosen = 0;
      int source = k;
      bool found = false; // the last iteration that replaces the element, back through the flips
      for (int turn = 0; turn < 3 && !found; ++turn) {
        found = (r * columns + source) % 5 == 0;
        if (!found)
          source = columns - 1 - source;
      }
      chosen = found ? T(-2.0F).bits : at(r, source);
      const auto place = static_cast<size_t>(r * columns + k);
      expected[place] = chosen;
      expected[place + count] = at(r, k / 2);
      expected[place + 2 * count] = T(3.0F).bits;
    }
  expect_values(traced(kernel, c), {buffer(x), {Bytes(expected.size())}, number(n)}, 1, expected);
}

TEST(SmallFloat, MovesWithoutAConversion) {
  for (const int waves : {1, 2, 4}) {
    check_moves<fp8>(waves);
    check_moves<bf8>(waves);
  }
}

struct DotConfig {
  int m = 16, n = 16, k = 128, stages = 1, waves = 1;
  NEREID_CONFIG(DotConfig, m, n, k, stages, waves)
};

/// Codes of multiples of 1/4 up to 4, so that sums are exact in any order.
template <class T> std::vector<uint8_t> exact_codes(size_t count, uint64_t seed) {
  Random random(seed);
  std::vector<uint8_t> codes(count);
  for (uint8_t &code : codes)
    code = T(0.25F * static_cast<float>(static_cast<int>(random.next() % 33) - 16)).bits;
  return codes;
}

template <class A, class B>
std::vector<float> product(const std::vector<uint8_t> &a, const std::vector<uint8_t> &b, const DotConfig &c,
                           float scale) {
  std::vector<float> result;
  for (int m = 0; m < c.m; ++m)
    for (int n = 0; n < c.n; ++n) {
      double sum = 0;
      for (int k = 0; k < c.k; ++k)
        sum += double{float{A::from_bits(a[static_cast<size_t>(m * c.k + k)])}} *
               float{B::from_bits(b[static_cast<size_t>(n * c.k + k)])};
      result.push_back(static_cast<float>(sum) * scale);
    }
  return result;
}

template <class A, class B> void check_dot(const DotConfig &c) {
  SCOPED_TRACE(config_text(c));
  const auto kernel = [](const DotConfig &c, Ptr<const A> a, Ptr<const B> b, Ptr<f32> z, Ptr<f32> scaled) {
    const int step = c.stages > 1 ? c.k / 4 : c.k;
    Var sum = zeros<f32>({c.m, c.n});
    Var scaled_sum = zeros<f32>({c.m, c.n});
    for (Int k : range(0, c.k, step, {.stages = c.stages})) {
      const Tile<A> x = load(a + (rows(c.m) * c.k + cols(step) + k));
      const Tile<B> y = trans(load(b + (rows(c.n) * c.k + cols(step) + k)));
      sum += dot(x, y);
      const Tile<u8> twice = full<u8>({c.m, step / 32}, 128), once = full<u8>({c.n, step / 32}, 127);
      constexpr Format format_a = std::same_as<A, fp8> ? e4m3 : e5m2,
                       format_b = std::same_as<B, fp8> ? e4m3 : e5m2;
      scaled_sum += dot_scaled(x, twice, format_a, y, once, format_b);
    }
    store(z + (rows(c.m) * c.n + cols(c.n)), sum);
    store(scaled + (rows(c.m) * c.n + cols(c.n)), scaled_sum);
  };
  const std::vector<uint8_t> a = exact_codes<A>(static_cast<size_t>(c.m * c.k), 1),
                             b = exact_codes<B>(static_cast<size_t>(c.n * c.k), 2);
  const size_t bytes = static_cast<size_t>(c.m * c.n) * 4;
  const std::vector<Argument> arguments = {buffer(a), buffer(b), {Bytes(bytes)}, {Bytes(bytes)}};
  const ir::Function function = traced(kernel, c);
  expect_values(function, arguments, 2, product<A, B>(a, b, c, 1));
  expect_values(function, arguments, 3, product<A, B>(a, b, c, 2));
}

TEST(SmallFloat, DotOfEveryPairOfFormats) {
  for (const DotConfig &c : {DotConfig{}, DotConfig{32, 48, 256, 1, 4}, DotConfig{16, 32, 64, 1, 2},
                             DotConfig{64, 64, 512, 2, 4}}) {
    check_dot<fp8, fp8>(c);
    check_dot<bf8, bf8>(c);
    check_dot<fp8, bf8>(c);
    check_dot<bf8, fp8>(c);
  }
}

TEST(SmallFloat, ArithmeticIsOfF32) {
  // What an author writes for a quantised activation: scale, clamp to the largest, round.
  const auto kernel = [](const TileConfig &c, Ptr<const bf16> x, Ptr<fp8> z, Ptr<f32> scale) {
    const Tile<i32> i = arange(0, c.columns);
    const Tile<f32> v = load(x + i).to<f32>();
    const Float largest = max(abs(v), axis(0)) / 448;
    store(z + i, clamp(v / largest, -448, 448).to<fp8>());
    store(scale, largest);
  };
  std::vector<bf16> x;
  for (int i = 0; i < 256; ++i)
    x.push_back(bf16(std::ldexp(static_cast<float>(i % 37 - 18), i % 9 - 4)));
  float largest = 0;
  for (const bf16 v : x)
    largest = std::max(largest, std::fabs(float{v}));
  std::vector<uint8_t> expected;
  for (const bf16 v : x)
    expected.push_back(fp8(float{v} / (largest / 448)).bits);
  expect_values(traced(kernel, TileConfig{1, 256, 1, 0, 1}), {buffer(x), {Bytes(256)}, {Bytes(4)}}, 1,
                expected);
}

} // namespace
} // namespace nereid::lowering_test
