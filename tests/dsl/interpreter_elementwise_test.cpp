#include "tests/dsl/interpreter_support.h"

#include <cmath>
#include <limits>
#include <random>

namespace nereid {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();

template <class R, class... T> std::vector<R> apply(const Elementwise &kernel, std::vector<T>... inputs) {
  const size_t n = std::max({inputs.size()...});
  std::vector<R> out(n);
  const Status status = run_text(kernel.text(n), {inputs..., out});
  EXPECT_TRUE(status.ok()) << status.error().text();
  return out;
}

template <class T>
std::vector<T> binary(const char *name, const char *element, std::vector<T> a, std::vector<T> b) {
  return apply<T>({{element, element}, element, std::string("$r = ") + name + " $0, $1 : " + element + "[n]"},
                  a, b);
}
std::vector<float> unary(const char *name, std::vector<float> x) {
  return apply<float>({{"f32"}, "f32", std::string("$r = ") + name + " $0 : f32[n]"}, x);
}

using I32 = std::vector<int32_t>;
using U32 = std::vector<uint32_t>;
using F32 = std::vector<float>;

TEST(InterpreterInteger, ArithmeticWraps) {
  EXPECT_EQ(binary<int32_t>("add", "i32", {INT32_MAX, -1}, {1, -1}), (I32{INT32_MIN, -2}));
  EXPECT_EQ(binary<int32_t>("sub", "i32", {INT32_MIN, 3}, {1, 5}), (I32{INT32_MAX, -2}));
  EXPECT_EQ(binary<int32_t>("mul", "i32", {65536, -7}, {65536, 3}), (I32{0, -21}));
  EXPECT_EQ(binary<int8_t>("mul", "i8", {100, -128}, {3, -1}), (std::vector<int8_t>{44, -128}));
  EXPECT_EQ(binary<uint16_t>("mul", "u16", {65535, 256}, {65535, 256}), (std::vector<uint16_t>{1, 0}));
  EXPECT_EQ(binary<int64_t>("add", "i64", {INT64_MAX}, {1}), (std::vector<int64_t>{INT64_MIN}));
  EXPECT_EQ(apply<int32_t>({{"i32"}, "i32", "$r = neg $0 : i32[n]"}, I32{INT32_MIN, 5}),
            (I32{INT32_MIN, -5}));
  EXPECT_EQ(apply<int32_t>({{"i32"}, "i32", "$r = abs $0 : i32[n]"}, I32{INT32_MIN, -5}),
            (I32{INT32_MIN, 5}));
  EXPECT_EQ(apply<int32_t>({{"i32"}, "i32", "$r = not $0 : i32[n]"}, I32{0, -5}), (I32{-1, 4}));
}

TEST(InterpreterInteger, DivisionTruncatesAndTheRemainderHasTheDividendsSign) {
  EXPECT_EQ(binary<int32_t>("div", "i32", {7, -7, 7, -7, INT32_MIN}, {2, 2, -2, -2, -1}),
            (I32{3, -3, -3, 3, INT32_MIN}));
  EXPECT_EQ(binary<int32_t>("rem", "i32", {7, -7, 7, -7, INT32_MIN}, {2, 2, -2, -2, -1}),
            (I32{1, -1, 1, -1, 0}));
  EXPECT_EQ(binary<uint32_t>("div", "u32", {0xffffffffu}, {2}), (U32{0x7fffffffu}));
}

TEST(InterpreterInteger, ShiftsByTheWidthOrMoreGiveZeroOrTheSign) {
  EXPECT_EQ(binary<int32_t>("shl", "i32", {1, 1, 1, 3}, {31, 32, -1, 30}),
            (I32{INT32_MIN, 0, 0, INT32_MIN | (1 << 30)}));
  EXPECT_EQ(binary<int32_t>("shr", "i32", {-8, -8, -8, 8}, {1, 32, 100, 40}), (I32{-4, -1, -1, 0}));
  EXPECT_EQ(binary<uint32_t>("shr", "u32", {0x80000000u, 0x80000000u}, {31, 32}), (U32{1, 0}));
  EXPECT_EQ(binary<uint8_t>("shl", "u8", {0xff, 0xff}, {4, 8}), (std::vector<uint8_t>{0xf0, 0}));
  EXPECT_EQ(binary<int8_t>("shr", "i8", {-128, -128}, {7, 8}), (std::vector<int8_t>{-1, -1}));
}

TEST(InterpreterInteger, CountsOfBits) {
  const auto count = [](const char *name, const char *element, auto x) {
    using T = typename decltype(x)::value_type;
    return apply<T>({{element}, element, std::string("$r = ") + name + " $0 : " + element + "[n]"}, x);
  };
  EXPECT_EQ(count("popcount", "i32", I32{0, -1, 5, INT32_MIN}), (I32{0, 32, 2, 1}));
  EXPECT_EQ(count("clz", "i32", I32{0, -1, 5, 1}), (I32{32, 0, 29, 31}));
  EXPECT_EQ(count("clz", "u8", std::vector<uint8_t>{0, 255, 1}), (std::vector<uint8_t>{8, 0, 7}));
  EXPECT_EQ(count("popcount", "i8", std::vector<int8_t>{-1, 3}), (std::vector<int8_t>{8, 2}));
  EXPECT_EQ(count("clz", "u64", std::vector<uint64_t>{0, 1}), (std::vector<uint64_t>{64, 63}));
}

TEST(InterpreterFloat, FunctionsOfTwoFloats) {
  const F32 x = {2, -2, -2, 0, -0.0F, infinity, 1, nan_value}, y = {10, 3, 0.5F, -1, -3, -2, nan_value, 0};
  const F32 power = binary<float>("pow", "f32", x, y);
  EXPECT_EQ(power[0], 1024);
  EXPECT_EQ(power[1], -8);
  EXPECT_TRUE(std::isnan(power[2]));
  EXPECT_EQ(power[3], infinity);
  EXPECT_EQ(power[4], -infinity);
  EXPECT_EQ(power[5], 0);
  EXPECT_EQ(power[6], 1);
  EXPECT_EQ(power[7], 1);
  EXPECT_EQ(binary<float>("fmod", "f32", {5.5F, -5.5F, 1e30F, 3}, {2, 2, 7, infinity}),
            (F32{1.5F, -1.5F, static_cast<float>(std::fmod(1e30F, 7.0F)), 3}));
  EXPECT_EQ(binary<float>("atan2", "f32", {0, 1, -0.0F}, {-1, 0, -1}),
            (F32{3.14159274F, 1.57079637F, -3.14159274F}));
}

TEST(InterpreterInteger, BitsUpperProductsAndExtremes) {
  EXPECT_EQ(binary<uint32_t>("and", "u32", {12}, {10}), (U32{8}));
  EXPECT_EQ(binary<uint32_t>("or", "u32", {12}, {10}), (U32{14}));
  EXPECT_EQ(binary<uint32_t>("xor", "u32", {12}, {10}), (U32{6}));
  EXPECT_EQ(binary<uint32_t>("mulhi", "u32", {0xffffffffu}, {0xffffffffu}), (U32{0xfffffffeu}));
  EXPECT_EQ(binary<int32_t>("mulhi", "i32", {-1, INT32_MIN}, {1, INT32_MIN}), (I32{-1, 1 << 30}));
  EXPECT_EQ(binary<int32_t>("min", "i32", {-1, 4}, {1, 2}), (I32{-1, 2}));
  EXPECT_EQ(binary<uint32_t>("max", "u32", {0xffffffffu}, {1}), (U32{0xffffffffu}));
}

TEST(InterpreterFloat, ArithmeticRoundsToNearestWithDenormals) {
  EXPECT_EQ(binary<float>("add", "f32", {16777216.0f, 1.0f}, {1.0f, 0x1p-24f}), (F32{16777216.0f, 1.0f}));
  EXPECT_EQ(binary<float>("mul", "f32", {0x1p-100f, 3.0f}, {0x1p-49f, 0x1p-149f}),
            (F32{0x1p-149f, 0x1.8p-148f}));
  EXPECT_EQ(binary<float>("div", "f32", {1.0f, -1.0f, 1.0f}, {3.0f, 0.0f, 0x1p127f}),
            (F32{1.0f / 3, -infinity, 0x1p-127f}));
  EXPECT_TRUE(std::isnan(binary<float>("sub", "f32", {infinity}, {infinity})[0]));
}

TEST(InterpreterFloat, SmallFloatsComputeInF32AndRoundOnce) {
  // 1 + 2^-8 is a tie in bf16 and goes to the even 1; 1 + 3 * 2^-8 goes up.
  const std::vector<uint16_t> one = {0x3f80, 0x3f80}, small = {0x3b80, 0x3c40};
  EXPECT_EQ((binary<uint16_t>("add", "bf16", one, small)), (std::vector<uint16_t>{0x3f80, 0x3f82}));
  EXPECT_EQ((binary<uint16_t>("mul", "f16", {0x7bff, 0x0001}, {0x4000, 0x3800})),
            (std::vector<uint16_t>{0x7c00, 0x0000}));
  EXPECT_EQ((binary<uint16_t>("add", "f16", {0x0001}, {0x0001})), (std::vector<uint16_t>{0x0002}));
}

TEST(InterpreterFloat, MaxAndMinPropagateNanAndOrderZeros) {
  for (const char *name : {"max", "min"}) {
    const F32 out = binary<float>(name, "f32", {nan_value, 1.0f, 2.0f}, {1.0f, nan_value, 3.0f});
    EXPECT_TRUE(std::isnan(out[0]));
    EXPECT_TRUE(std::isnan(out[1]));
    EXPECT_EQ(out[2], name == std::string("max") ? 3.0f : 2.0f);
    for (float zero : binary<float>(name, "f32", {0.0f, -0.0f}, {-0.0f, 0.0f}))
      EXPECT_EQ(std::signbit(zero), name == std::string("min"));
  }
}

TEST(InterpreterFloat, ComparisonsAreOrderedButForNe) {
  const F32 a = {1, 2, 2, nan_value, nan_value}, b = {2, 1, 2, 1, nan_value};
  const std::pair<const char *, std::vector<uint8_t>> cases[] = {
      {"eq", {0, 0, 1, 0, 0}}, {"ne", {1, 1, 0, 1, 1}}, {"lt", {1, 0, 0, 0, 0}},
      {"le", {1, 0, 1, 0, 0}}, {"gt", {0, 1, 0, 0, 0}}, {"ge", {0, 1, 1, 0, 0}},
  };
  for (const auto &[name, expected] : cases)
    EXPECT_EQ((apply<uint8_t>({{"f32", "f32"}, "i1", std::string("$r = ") + name + " $0, $1 : i1[n]"}, a, b)),
              expected)
        << name;
  EXPECT_EQ((apply<uint8_t>({{"u32", "u32"}, "i1", "$r = lt $0, $1 : i1[n]"}, U32{1}, U32{0xffffffffu})),
            (std::vector<uint8_t>{1}));
  EXPECT_EQ((apply<uint8_t>({{"i32", "i32"}, "i1", "$r = lt $0, $1 : i1[n]"}, I32{1}, I32{-1})),
            (std::vector<uint8_t>{0}));
}

TEST(InterpreterFloat, RoundingFunctions) {
  const F32 x = {0.5f, 1.5f, 2.5f, -0.5f, -1.2f, 0x1p30f, infinity};
  EXPECT_EQ(unary("round", x), (F32{0, 2, 2, -0.0f, -1, 0x1p30f, infinity}));
  EXPECT_EQ(unary("floor", x), (F32{0, 1, 2, -1, -2, 0x1p30f, infinity}));
  EXPECT_EQ(unary("ceil", x), (F32{1, 2, 3, -0.0f, -1, 0x1p30f, infinity}));
  EXPECT_TRUE(std::signbit(unary("neg", {0.0f})[0]));
  EXPECT_EQ(unary("abs", {-3.0f})[0], 3.0f);
}

TEST(InterpreterFloat, FunctionsAreExactAtPowersOfTwo) {
  for (int e = -149; e < 128; ++e) {
    const float power = std::ldexp(1.0f, e);
    EXPECT_EQ(unary("exp2", {static_cast<float>(e)})[0], power);
    EXPECT_EQ(unary("log2", {power})[0], static_cast<float>(e));
    if (e % 2 == 0) {
      EXPECT_EQ(unary("sqrt", {power})[0], std::ldexp(1.0f, e / 2));
      EXPECT_EQ(unary("rsqrt", {power})[0], std::ldexp(1.0f, -e / 2));
    }
  }
}

TEST(InterpreterFloat, FunctionsStayWithinTheirUnitsInTheLastPlace) {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> uniform(-8, 8);
  F32 x(4000);
  for (float &v : x)
    v = uniform(random);
  const auto check = [&](const char *name, bool positive, double ulps, long double (*exact)(long double)) {
    F32 input = x;
    for (float &v : input)
      v = positive ? std::fabs(v) + 1e-6f : v;
    const F32 out = unary(name, input);
    for (size_t i = 0; i < out.size(); ++i) {
      const long double expected = exact(input[i]);
      const double ulp = std::ldexp(1.0, std::max(std::ilogb(out[i]), -126) - 23);
      EXPECT_LE(std::fabs(static_cast<double>(out[i] - expected)), ulps * ulp) << name << " " << input[i];
    }
  };
  check("exp", false, 1, [](long double v) { return std::exp(v); });
  check("exp2", false, 1, [](long double v) { return std::exp2(v); });
  check("log", true, 1, [](long double v) { return std::log(v); });
  check("log2", true, 1, [](long double v) { return std::log2(v); });
  check("rsqrt", true, 1, [](long double v) { return 1 / std::sqrt(v); });
  check("tanh", false, 2, [](long double v) { return std::tanh(v); });
  check("erf", false, 2, [](long double v) { return std::erf(v); });
  check("sin", false, 1, [](long double v) { return std::sin(v); });
  check("cos", false, 1, [](long double v) { return std::cos(v); });
  check("atan", false, 1, [](long double v) { return std::atan(v); });
  check("log1p", true, 1, [](long double v) { return std::log1p(v); });
  check("expm1", false, 1, [](long double v) { return std::expm1(v); });
  check("sigmoid", false, 2, [](long double v) { return 1 / (1 + std::exp(-v)); });
}

TEST(InterpreterFloat, FmaRoundsOnceAndAddsDoNotContract) {
  const float a = 1 + 0x1p-12f;
  EXPECT_EQ(apply<float>({{"f32", "f32", "f32"}, "f32", "$r = fma $0, $1, $2 : f32[n]"}, F32{a}, F32{a},
                         F32{-1.0f}),
            (F32{0x1p-11f + 0x1p-24f}));
  EXPECT_EQ(
      apply<float>({{"f32", "f32", "f32"}, "f32", "%50 = mul $0, $1 : f32[n] $r = add %50, $2 : f32[n]"},
                   F32{a}, F32{a}, F32{-1.0f}),
      (F32{0x1p-11f}));
}

TEST(InterpreterCast, FloatToIntegerSaturatesToThirtyTwoBitsThenTruncates) {
  const F32 x = {1.9f, -1.9f, 300.0f, -1.0f, 3e9f, -3e9f, nan_value, infinity};
  const auto cast = [&](const char *element) {
    return Elementwise{{"f32"}, element, std::string("$r = cast $0 : ") + element + "[n]"};
  };
  EXPECT_EQ(apply<int32_t>(cast("i32"), x), (I32{1, -1, 300, -1, INT32_MAX, INT32_MIN, 0, INT32_MAX}));
  EXPECT_EQ(apply<uint32_t>(cast("u32"), x), (U32{1, 0, 300, 0, 3000000000u, 0, 0, UINT32_MAX}));
  EXPECT_EQ(apply<uint8_t>(cast("u8"), x), (std::vector<uint8_t>{1, 255, 44, 255, 255, 0, 0, 255}));
  EXPECT_EQ(apply<int16_t>(cast("i16"), x), (std::vector<int16_t>{1, -1, 300, -1, -1, 0, 0, -1}));
  EXPECT_EQ(apply<int64_t>(cast("i64"), x),
            (std::vector<int64_t>{1, -1, 300, -1, 3000000000, -3000000000, 0, INT64_MAX}));
  EXPECT_EQ(apply<uint8_t>(cast("i1"), F32{0.0f, -0.0f, 0.5f, nan_value}),
            (std::vector<uint8_t>{0, 0, 1, 1}));
}

TEST(InterpreterCast, IntegersExtendByTheirOwnSignAndRoundToFloats) {
  EXPECT_EQ(apply<int64_t>({{"i32"}, "i64", "$r = cast $0 : i64[n]"}, I32{-1}), (std::vector<int64_t>{-1}));
  EXPECT_EQ(apply<int64_t>({{"u32"}, "i64", "$r = cast $0 : i64[n]"}, U32{0xffffffffu}),
            (std::vector<int64_t>{0xffffffff}));
  EXPECT_EQ(apply<uint8_t>({{"i32"}, "u8", "$r = cast $0 : u8[n]"}, I32{-1, 257}),
            (std::vector<uint8_t>{255, 1}));
  EXPECT_EQ(apply<uint8_t>({{"i32"}, "i1", "$r = cast $0 : i1[n]"}, I32{2, 0}), (std::vector<uint8_t>{1, 0}));
  EXPECT_EQ(
      apply<float>({{"i64"}, "f32", "$r = cast $0 : f32[n]"}, std::vector<int64_t>{(1 << 24) + 1, INT64_MIN}),
      (F32{16777216.0f, -0x1p63f}));
  EXPECT_EQ(apply<uint16_t>({{"f32"}, "bf16", "$r = cast $0 : bf16[n]"}, F32{1.0f + 0x1p-8f, 0x1.fffp127f}),
            (std::vector<uint16_t>{0x3f80, 0x7f80}));
  EXPECT_EQ(
      apply<uint16_t>({{"bf16"}, "f16", "$r = cast $0 : f16[n]"}, std::vector<uint16_t>{0x3f80, 0x4780}),
      (std::vector<uint16_t>{0x3c00, 0x7c00}));
}

TEST(InterpreterCast, BitcastsKeepAllBits) {
  EXPECT_EQ(apply<uint32_t>({{"f32"}, "u32", "$r = bitcast $0 : u32[n]"}, F32{1.0f, -0.0f}),
            (U32{0x3f800000, 0x80000000}));
  EXPECT_EQ(apply<float>({{"i32"}, "f32", "$r = bitcast $0 : f32[n]"}, I32{0x40000000}), (F32{2.0f}));
  const std::vector<uint16_t> patterns = {0x3f80, 0x7fff, 0xff81, 0x0001, 0x7c01};
  for (const char *element : {"bf16", "f16"}) {
    const std::string e = element;
    EXPECT_EQ((apply<uint16_t>({{"u16"}, "u16", "%50 = bitcast $0 : " + e + "[n] $r = bitcast %50 : u16[n]"},
                               std::vector<uint16_t>{patterns[0], patterns[3]})),
              (std::vector<uint16_t>{patterns[0], patterns[3]}));
  }
}

TEST(InterpreterSelect, WhereTakesOneSide) {
  EXPECT_EQ(apply<int32_t>({{"i32", "i32"}, "i32", "%50 = lt $0, $1 : i1[n] $r = where %50, $0, $1 : i32[n]"},
                           I32{1, 9}, I32{5, 3}),
            (I32{1, 3}));
  EXPECT_EQ(apply<uint8_t>({{"i1", "i1"}, "i1", "%50 = not $0 : i1[n] $r = and %50, $1 : i1[n]"},
                           std::vector<uint8_t>{0, 1, 0}, std::vector<uint8_t>{1, 1, 0}),
            (std::vector<uint8_t>{1, 0, 0}));
}

TEST(InterpreterConversion, CvtScaledDividesByThePowerOfTwoAndPacks) {
  const std::string text = "$r = cvt_scaled $0, $1, $2 {format = \"e2m1\"} : u8[n]";
  // Only the exponent of the scale counts; the even value is the low nibble.
  EXPECT_EQ(
      (apply<uint8_t>({{"f32", "f32", "f32"}, "u8", text}, F32{6.0f, 12.0f, 2.5f, nan_value, -0.2f, 1.0f},
                      F32{-1.0f, -100.0f, 3.5f, -infinity, 0.25f, -1.0f},
                      F32{1.0f, 2.0f, -1.75f, 1.0f, 1.0f, infinity})),
      (std::vector<uint8_t>{0xa7, 0xf7, 0x64, 0xf7, 0x08, 0xf7}));
  EXPECT_EQ((apply<uint16_t>(
                {{"f32", "f32", "f32"}, "u16", "$r = cvt_scaled $0, $1, $2 {format = \"e4m3\"} : u16[n]"},
                F32{1.0f, 448.0f, 1000.0f}, F32{-2.0f, 464.0f, -0.0f}, F32{1.0f, 1.0f, 1.0f})),
            (std::vector<uint16_t>{0xc038, 0x7e7e, 0x807f}));
  EXPECT_EQ((apply<uint16_t>(
                {{"f32", "f32", "f32"}, "u16", "$r = cvt_scaled $0, $1, $2 {format = \"e5m2\"} : u16[n]"},
                F32{1.0f, 57344.0f}, F32{-61440.0f, nan_value}, F32{1.0f, 1.0f})),
            (std::vector<uint16_t>{0xfc3c, 0x7f7b}));
}

TEST(InterpreterAsm, TheHostFunctionIsItsMeaning) {
  const Elementwise kernel = {
      {"i32", "i32"},
      "i32",
      "$r = inline_asm $0, $1 {asm = \"v_x $0, $1\", constraints = \"=v,v,v\", host = 0} : i32[n]"};
  std::string text = kernel.text(2);
  // The template's own placeholders were replaced inside the string too, which does not matter here.
  ir::Function function = kernel_of(text);
  I32 a = {1, -2}, b = {10, 20}, out(2);
  Status status = run_kernel(function, {a, b, out});
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("no host function"), std::string::npos);
  function.host_functions = {[](const std::vector<uint64_t> &x) { return (x[0] & 0xffffffff) + 2 * x[1]; }};
  status = run_kernel(function, {a, b, out});
  ASSERT_TRUE(status.ok()) << status.error().text();
  EXPECT_EQ(out, (I32{21, 38}));
}

} // namespace
} // namespace nereid
