#include <cmath>

#include "tests/dsl/trace_support.h"

namespace nereid::test {
namespace {

/// The last operation before the final store, which keeps the value alive, with its operands' numbers
/// removed.
std::string last_of(Body body) {
  std::string text = body_of(body);
  if (!text.ends_with('\n') || text.find("  store") == std::string::npos)
    return text;
  text.erase(text.rfind("  store"));
  text.pop_back();
  std::string line = text.substr(text.rfind('\n') + 1);
  size_t name = line.find("= ") + 2;
  std::string kept;
  for (size_t i = name; i < line.size(); ++i)
    if (line[i] == '%')
      while (i + 1 < line.size() && std::isdigit(static_cast<unsigned char>(line[i + 1])))
        ++i;
    else if (line[i] != ',' || line[i + 1] != ' ' || line[i + 2] != '%')
      kept += line[i];
    else
      ++i;
  return kept;
}

#define EXPECT_LAST(expected, ...)                                                                           \
  EXPECT_EQ(last_of([]([[maybe_unused]] const Inputs &in) { keep(in, __VA_ARGS__); }), expected)

template <class T> Ptr<T> broadcast_pointer(const Ptr<T> &p, const Shape &shape) {
  return p + full<i32>(shape, 0);
}

template <class T> void keep(const Inputs &in, const Tile<T> &tile) {
  static_assert(std::is_same_v<T, f32> || std::is_same_v<T, i32> || std::is_same_v<T, bf16>);
  if constexpr (std::is_same_v<T, f32>)
    store(broadcast_pointer(in.p, tile.shape()), tile);
  else if constexpr (std::is_same_v<T, i32>)
    store(broadcast_pointer(in.q, tile.shape()), tile);
  else
    store(broadcast_pointer(in.h, tile.shape()), tile);
}

TEST(TraceOperations, Unary) {
  EXPECT_LAST("abs  : f32[8]", abs(in.x({8})));
  EXPECT_LAST("abs  : i32[8]", abs(in.i({8})));
  EXPECT_LAST("exp  : f32[8]", exp(in.x({8})));
  EXPECT_LAST("exp2  : bf16[8]", exp2(in.b({8})));
  EXPECT_LAST("log  : f32[8]", log(in.x({8})));
  EXPECT_LAST("log2  : f32[8]", log2(in.x({8})));
  EXPECT_LAST("sqrt  : f32[8]", sqrt(in.x({8})));
  EXPECT_LAST("rsqrt  : f32[8]", rsqrt(in.x({8})));
  EXPECT_LAST("tanh  : f32[8]", tanh(in.x({8})));
  EXPECT_LAST("erf  : f32[8]", erf(in.x({8})));
  EXPECT_LAST("sigmoid  : f32[8]", sigmoid(in.x({8})));
  EXPECT_LAST("floor  : f32[8]", floor(in.x({8})));
  EXPECT_LAST("ceil  : f32[8]", ceil(in.x({8})));
  EXPECT_LAST("round  : f32[8]", round(in.x({8})));
  EXPECT_LAST("trunc  : f32[8]", trunc(in.x({8})));
  EXPECT_LAST("sin  : f32[8]", sin(in.x({8})));
  EXPECT_LAST("cos  : f32[8]", cos(in.x({8})));
  EXPECT_LAST("atan  : f32[8]", atan(in.x({8})));
  EXPECT_LAST("log1p  : f32[8]", log1p(in.x({8})));
  EXPECT_LAST("expm1  : bf16[8]", expm1(in.b({8})));
  EXPECT_LAST("popcount  : i32[8]", popcount(in.i({8})));
  EXPECT_LAST("clz  : i32[8]", clz(in.i({8})));
  EXPECT_LAST("neg  : f32[8]", -in.x({8}));
  EXPECT_LAST("not  : i32[8]", ~in.i({8}));
}

TEST(TraceOperations, Binary) {
  EXPECT_LAST("sub  : f32[8]", in.x({8}) - in.s * 2);
  EXPECT_LAST("div  : f32[8]", in.x({8}) / abs(in.x({8})));
  EXPECT_LAST("max  : f32[8]", max(in.x({8}), abs(in.s)));
  EXPECT_LAST("min  : i32", min(in.n, in.m.to<i32>()));
  EXPECT_LAST("mulhi  : i32", mulhi(in.n, in.m.to<i32>()));
  EXPECT_LAST("gather  {axis = 1} : f32[4, 2]", gather(in.x({4, 8}), in.i({4, 2}), -1));
  EXPECT_LAST("gather  {axis = 0} : f32[4, 8]", flip(in.x({4, 8}), 0));
  EXPECT_LAST("pow  : f32[8]", pow(in.x({8}), in.s));
  EXPECT_LAST("atan2  : f32[8]", atan2(in.x({8}), 1.0F));
  EXPECT_LAST("fmod  : f32[8]", fmod(in.x({8}), in.s));
  EXPECT_LAST("mul  : f32[4, 8]", in.x({4, 8}) * in.x({8}));
  EXPECT_LAST("add  : f32[2, 4, 8]", in.x({4, 1}) + in.x({2, 1, 8}));
  EXPECT_LAST("fma  : f32[8]", fma(in.x({8}), in.s, in.s));
  EXPECT_LAST("min  : f32[8]", clamp(in.x({8}), -in.s, abs(in.s)));
  EXPECT_LAST("where  : f32[8, 4]", where(in.n > 2, in.x({8, 1}), in.x({1, 4})));
  EXPECT_LAST("rem  : i32", in.n % -in.n);
  EXPECT_LAST("shl  : i32", in.n << -in.n);
  EXPECT_LAST("shr  : i32", in.n >> -in.n);
}

TEST(TraceOperations, Conversions) {
  EXPECT_LAST("cast  : bf16[8]", in.x({8}).to<bf16>());
  EXPECT_LAST("cast  : f32", cast<f32>(in.n > 0));
  EXPECT_LAST("bitcast  : i32[8]", bitcast<i32>(in.x({8})));
  EXPECT_LAST("cast  : i32", (in.s.to<i1>()).to<i32>());
  EXPECT_LAST("cast  : i32[4]", cvt_scaled<e2m1>(in.x({4}), in.s, 1.0f).to<i32>());
}

TEST(TraceOperations, CastToTruthIsAComparison) {
  EXPECT_NE(body_of([](const Inputs &in) { store(in.q, in.s.to<i1>().to<i32>()); }).find("= ne %6"),
            std::string::npos);
}

TEST(TraceOperations, Shapes) {
  EXPECT_LAST("expand_dims  {axis = 0} : f32[1, 8]", row(abs(in.x({8}))));
  EXPECT_LAST("expand_dims  {axis = 1} : f32[8, 1]", col(abs(in.x({8}))));
  EXPECT_LAST("expand_dims  {axis = 1} : i32[8, 1]", rows(8));
  EXPECT_LAST("expand_dims  {axis = 0} : i32[1, 8]", cols(8));
  EXPECT_LAST("expand_dims  {axis = 1} : f32[8, 1, 2]", expand_dims(abs(in.x({8, 2})), -2));
  EXPECT_LAST("permute  {order = [1, 0]} : f32[2, 8]", trans(in.x({8, 2})));
  EXPECT_LAST("permute  {order = [2, 0, 1]} : f32[4, 8, 2]", permute(in.x({8, 2, 4}), {2, 0, 1}));
  EXPECT_LAST("reshape  : f32[48, 2]", reshape(abs(in.x({3, 32})), {48, 2}));
  EXPECT_LAST("join  : f32[8, 2]", join(in.x({8}), abs(in.x({8}))));
  EXPECT_LAST("split  : f32[8], f32[8]", split(abs(in.x({8, 2}))).second);
  EXPECT_LAST("broadcast  : f32[8, 4]", broadcast(abs(in.x({8, 1})), {8, 4}));
  EXPECT_LAST("constant {bits = 0x40000000} : f32[4]", full<f32>({4}, 2));
  EXPECT_LAST("constant {bits = 0x0} : f32", zeros<f32>({}));
}

TEST(TraceOperations, Reductions) {
  EXPECT_LAST("reduce_max  {axis = 1} : f32[8]", max(abs(in.x({8, 4})), axis(1)));
  EXPECT_LAST("reduce_max  {axis = 0} : f32[4]", reduce_max(abs(in.x({8, 4})), -2));
  EXPECT_LAST("reduce_min  {axis = 0} : f32[4]", min(abs(in.x({8, 4})), axis(0)));
  EXPECT_LAST("reduce_sum  {axis = 0} : i32", sum(abs(in.i({8})), 0));
  EXPECT_LAST("argmax  {axis = 1} : i32[8]", argmax(abs(in.x({8, 4})), 1));
  EXPECT_LAST("cast  : i32", any(in.i({8}) > 1, 0).to<i32>());
  EXPECT_LAST("cumsum  {axis = 0} : f32[8]", cumsum(abs(in.x({8})), 0));
  EXPECT_LAST("expand_dims  {axis = 1} : f32[8, 1]", sum(abs(in.x({8, 4})), keep_axis(1)));
}

TEST(TraceOperations, Matrix) {
  EXPECT_LAST("dot  : f32[16, 8]", dot(in.b({16, 32}), in.b({32, 8})));
  EXPECT_LAST("dot_scaled  {format_a = \"e2m1\", format_b = \"e4m3\"} : f32[16, 8]",
              dot_scaled(in.u({16, 32}), in.u({16, 2}), e2m1, in.u({64, 8}), in.u({8, 2}), e4m3));
  EXPECT_LAST("dot_scaled  {format_a = \"e2m3\", format_b = \"e3m2\"} : f32[16, 8]",
              dot_scaled(in.u({16, 24}), in.u({16, 1}), e2m3, in.u({24, 8}), in.u({8, 1}), e3m2));
  EXPECT_LAST("dot_scaled  {format_a = \"bf16\", format_b = \"e5m2\"} : f32[16, 8]",
              dot_scaled(in.b({16, 64}), in.u({64, 8}), in.u({8, 2}), e5m2));
  EXPECT_LAST("dot_scaled  {format_a = \"e2m1\", format_b = \"bf16\"} : f32[16, 8]",
              dot_scaled(in.u({16, 32}), in.u({16, 2}), e2m1, in.b({64, 8})));
  EXPECT_NE(body_of([](const Inputs &in) {
              auto [codes, scales] = quantize(in.x({4, 64}), e2m3, ScaleRule::Floor);
              store(in.q + full<i32>({4, 48}, 0), codes.to<i32>());
              store(in.q + full<i32>({4, 2}, 0), scales.to<i32>());
            }).find("{format = \"e2m3\", rule = \"floor\"} : u8[4, 48], u8[4, 2]"),
            std::string::npos);
}

TEST(TraceOperations, Memory) {
  EXPECT_EQ(body_of([](const Inputs &in) {
              Tile<i32> at = arange(0, 4);
              Tile<u8> a = load(in.bytes + at, at < in.n, 7, Cache::Stream);
              store(in.q + at, a.to<i32>(), at < in.n, Cache::Global);
              Int old = atomic_max(in.q, in.n, Order::Relaxed, Scope::Workgroup);
              Tile<i32> many = atomic_add(in.q + at, old, at < 2, Order::Release);
              Int seen = atomic_compare_exchange(in.q, 0, 1);
              store(in.q, seen + sum(many, 0));
            }),
            R"(  %7 = broadcast %2 : ptr<u8>[4]
  %8 = arange {start = 0} : i32[4]
  %9 = ptr_add %7, %8 : ptr<u8>[4]
  %10 = broadcast %4 : i32[4]
  %11 = lt %8, %10 : i1[4]
  %12 = constant {bits = 7} : u8[4]
  %13 = load %9, %11, %12 {cache = "stream"} : u8[4]
  %14 = broadcast %1 : ptr<i32>[4]
  %15 = ptr_add %14, %8 : ptr<i32>[4]
  %16 = cast %13 : i32[4]
  store %15, %16, %11 {cache = "global"}
  %17 = atomic_max %1, %4 {order = "relaxed", scope = "workgroup"} : i32
  %18 = broadcast %17 : i32[4]
  %19 = constant {bits = 2} : i32[4]
  %20 = lt %8, %19 : i1[4]
  %21 = atomic_add %15, %18, %20 {order = "release", scope = "device"} : i32[4]
  %22 = constant {bits = 0} : i32
  %23 = constant {bits = 1} : i32
  %24 = atomic_compare_exchange %1, %22, %23 {order = "acq_rel", scope = "device"} : i32
  %25 = reduce_sum %21 {axis = 0} : i32
  %26 = add %24, %25 : i32
  store %1, %26
)");
}

TEST(TraceOperations, AMaskKnownToHoldIsNone) {
  EXPECT_EQ(body_of([](const Inputs &in) {
              Int x = load(in.q, true, 3);
              store(in.q, x, Tile<i1>(true));
            }),
            "  %7 = load %1 : i32\n  store %1, %7\n");
}

TEST(TraceOperations, Statements) {
  EXPECT_EQ(body_of([](const Inputs &in) {
              assume(in.n > 0);
              device_assert(arange(0, 4) < in.n, "n is at least 4");
              device_print("n and s", in.n, in.s);
            }),
            R"(  %7 = constant {bits = 0} : i32
  %8 = gt %4, %7 : i1
  assume %8
  %9 = arange {start = 0} : i32[4]
  %10 = broadcast %4 : i32[4]
  %11 = lt %9, %10 : i1[4]
  device_assert %11 {message = "n is at least 4"}
  device_print %4, %6 {message = "n and s"}
)");
}

TEST(TraceOperations, InlineAssemblyHasItsHostMeaning) {
  Result<ir::Function> f = trace_body([](const Inputs &in) {
    Tile<i32> bits = inline_asm<i32>(
        "v_add_u32 $0, $1, $2", "=v,v,v", [](float a, i32 b) { return static_cast<i32>(a) + b; }, in.x({4}),
        in.n);
    store(in.q + arange(0, 4), bits);
  });
  ASSERT_TRUE(f.ok()) << f.error().text();
  ASSERT_EQ(f->host_functions.size(), 1u);
  EXPECT_EQ(f->host_functions[0]({0x40600000, 0xfffffffe}), 1u);
}

TEST(TraceOperations, IntegersKnownWhileTracingAreFolded) {
  EXPECT_EQ(body_of([](const Inputs &in) {
              Int two = 2;
              Int a = in.n * 1 + 0;
              Tile<i32> all = (a - 0 + arange(0, 4) * (two - 1)) / 1;
              store(in.q + all, cdiv(two * 9, 4) << 1);
              store(in.q + all, 7 / two % 3 - -4);
            }),
            R"(  %7 = broadcast %1 : ptr<i32>[4]
  %8 = broadcast %4 : i32[4]
  %9 = arange {start = 0} : i32[4]
  %10 = add %8, %9 : i32[4]
  %11 = ptr_add %7, %10 : ptr<i32>[4]
  %12 = constant {bits = 10} : i32[4]
  store %11, %12
  %13 = constant {bits = 4} : i32[4]
  store %11, %13
)");
}

TEST(TraceOperations, Constants) {
  EXPECT_LAST("constant {bits = 0xff800000} : f32", Tile<f32>(-INFINITY));
  EXPECT_LAST("constant {bits = 0x3dcccccd} : f32", full<f32>({}, 0.1));
  EXPECT_LAST("constant {bits = 0x3dcd} : bf16", full<bf16>({}, 0.1));
  EXPECT_LAST("constant {bits = 4294967295} : i32", Int(-1));
}

} // namespace
} // namespace nereid::test
