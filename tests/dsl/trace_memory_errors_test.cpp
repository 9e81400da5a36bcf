#include "tests/dsl/trace_support.h"

namespace nereid::test {
namespace {

TEST(TraceMemoryErrors, Pointers) {
  EXPECT_REFUSED("pointer + offset: the shapes [16] and [8] do not match", "equal",
                 in.p + arange(0, 16) + arange(0, 8));
}

TEST(TraceMemoryErrors, LoadsAndStores) {
  EXPECT_REFUSED("the mask of load: the shapes [8] and [16] do not match", "equal",
                 load(in.p + arange(0, 16), in.i({8}) > 0));
  EXPECT_REFUSED("the other value of load: the shapes [8] and [16] do not match", "equal",
                 load(in.p + arange(0, 16), true, in.x({8})));
  EXPECT_REFUSED("store: the shapes [8] and [16] do not match", "equal",
                 store(in.p + arange(0, 16), in.x({8})));
  EXPECT_REFUSED("store: the shape [8] does not broadcast to []", "scalar", store(in.p, in.x({8})));
  EXPECT_REFUSED("store: the shape [8, 4] does not broadcast to [8, 1]", "scalar",
                 store(in.p + col(arange(0, 8)), in.x({8, 4})));
  EXPECT_REFUSED("the mask of store: the shape [8] does not broadcast to []", "scalar",
                 store(in.p, in.s, arange(0, 8) < 3));
}

TEST(TraceMemoryErrors, Atomics) {
  EXPECT_REFUSED("atomic_max: no atomic on bf16 is available", "f32", atomic_max(in.h, 1.0f));
  EXPECT_REFUSED("atomic_add: no atomic on fp8 is available", "f16 or bf16",
                 atomic_add(as_pointer<fp8>(in.m), 1.0f));
  EXPECT_REFUSED("atomic_xor: no atomic on f32 is available", "i32, u32, i64 or u64", atomic_xor(in.p, 1.0f));
  EXPECT_REFUSED("atomic_compare_exchange: no atomic on f32 is available", "i32, u32, i64 or u64",
                 atomic_compare_exchange(in.p, 1.0f, 2.0f));
  EXPECT_REFUSED("atomic_max: the shape [4] does not broadcast to []", "scalar", atomic_max(in.q, in.i({4})));
  EXPECT_REFUSED("the mask of atomic_add: the shapes [8] and [4] do not match", "equal",
                 atomic_add(in.q + arange(0, 4), 1, in.i({8}) > 0));
}

TEST(TraceMemoryErrors, Constants) {
  EXPECT_REFUSED("the constant 300 does not fit u8", "u8(...)", in.u({4}) + 300);
  EXPECT_REFUSED("the constant -1 does not fit u8", "u8(...)", in.u({4}) & -1);
  EXPECT_REFUSED("the constant 4286578688 does not fit i32", "i32(...)", in.n & 0xFF800000);
  EXPECT_REFUSED("the constant 18446744073709551615 does not fit i64", "u64", in.m & 0xFFFFFFFFFFFFFFFF);
}

TEST(TraceMemoryErrors, Statements) {
  EXPECT_REFUSED("assume: the condition is a tile of shape [4]", "scalars", assume(in.i({4}) > 0));
}

TEST(TraceMemoryErrors, InlineAssembly) {
  EXPECT_REFUSED("inline_asm: text \"\" with constraints \"=v,v\"", "=v,v,v",
                 inline_asm<f32>("", "=v,v", nullptr, in.s));
  EXPECT_REFUSED("inline_asm: text \"v_mov_b32 $0, $1\" with constraints \"v\"", "start with the result's",
                 inline_asm<f32>("v_mov_b32 $0, $1", "v", nullptr, in.s));
  EXPECT_REFUSED("inline_asm: the shapes [4] and [8] do not match", "equal",
                 inline_asm<f32>("v_add_f32 $0, $1, $2", "=v,v,v", nullptr, in.x({4}), in.x({8})));
}

TEST(TraceMemoryErrors, NamesAndFacts) {
  auto kernel = [](const NoConfig &, Ptr<i32> p, Int n, Float s) { store(p, n + s.to<i32>()); };
  auto message = [&](const char *name, const std::vector<ArgumentFacts> &facts) {
    Result<ir::Function> function = trace(name, kernel, NoConfig{}, facts);
    EXPECT_FALSE(function.ok());
    EXPECT_EQ(function.error().owner, Owner::User);
    return function.error().message;
  };
  EXPECT_EQ(message("2fast", {}), "'2fast' is not a kernel name");
  EXPECT_EQ(message("k", {{}, {}, {}, {}}), "facts for 4 arguments are given, the kernel has 3");
  EXPECT_EQ(message("k", {{}, {.divisibility = 0}}), "the facts of argument 1 (i32) say divisibility 0");
  EXPECT_EQ(message("k", {{}, {}, {.divisibility = 16}}),
            "the facts of argument 2 (f32) say divisibility 16");
  EXPECT_EQ(message("k", {{.pointer_range = 33}}), "the facts of argument 0 (ptr<i32>) say pointer range 33");
  EXPECT_EQ(message("k", {{}, {.pointer_range = 32}}), "the facts of argument 1 (i32) say pointer range 32");
  EXPECT_EQ(message("k", {{.constant = 1}}), "the facts of argument 0 (ptr<i32>) say that it is a constant");
  EXPECT_EQ(message("k", {{}, {.divisibility = 16, .constant = 24}}),
            "the facts of argument 1 (i32) say 24 and divisibility 16");
  EXPECT_EQ(message("k", {{}, {.constant = int64_t{1} << 40}}),
            "the facts of argument 1 (i32) say 1099511627776");
}

struct Reserved {
  int waves = 4, stages = 1, mfma = 16, waves_per_eu = 0, fast_math = 0;
  NEREID_CONFIG(Reserved, waves, stages, mfma, waves_per_eu, fast_math)
};

TEST(TraceMemoryErrors, ReservedConfigKeys) {
  auto kernel = [](const Reserved &, Ptr<i32> p) { store(p, 1); };
  auto error = [&](Reserved config) {
    Result<ir::Function> function = trace("k", kernel, config);
    return function.ok() ? Error{} : function.error();
  };
  EXPECT_EQ(error({.waves = 17}).text(),
            "user error: kernel 'k': config key waves is 17. It must be 1, 2, 4, 8 or 16");
  EXPECT_EQ(error({.waves = 0}).message, "kernel 'k': config key waves is 0");
  for (const int waves : {3, 6, 12})
    EXPECT_EQ(error({.waves = waves}).remedy, "It must be 1, 2, 4, 8 or 16");
  EXPECT_EQ(error({.stages = 0}).message, "kernel 'k': config key stages is 0");
  EXPECT_EQ(error({.mfma = 24}).text(), "user error: kernel 'k': config key mfma is 24. It must be 16 or 32");
  EXPECT_EQ(error({.waves_per_eu = 9}).message, "kernel 'k': config key waves_per_eu is 9");
  EXPECT_EQ(error({.fast_math = 2}).text(),
            "user error: kernel 'k': config key fast_math is 2. It must be 0 or 1");
  EXPECT_EQ(error({.waves = 8, .fast_math = 1}).message, "");
}

TEST(TraceMemoryErrors, FastMathMarksTheOperationsOfFloats) {
  auto kernel = [](const Reserved &, Ptr<f32> p) {
    const Tile<f32> x = load(p + arange(0, 64));
    store(p + arange(0, 64) / 2, exp(x) / fast::tanh(x) + sqrt(x));
  };
  for (int fast_math : {0, 1}) {
    Result<ir::Function> function = trace("k", kernel, Reserved{.fast_math = fast_math});
    ASSERT_TRUE(function.ok()) << function.error().text();
    size_t fast = 0;
    for (const ir::Op &op : function->body.ops)
      fast += op.has("fast");
    EXPECT_EQ(fast, fast_math == 1 ? 3 : 1);
  }
}

} // namespace
} // namespace nereid::test
