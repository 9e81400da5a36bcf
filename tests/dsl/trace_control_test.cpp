#include "tests/dsl/trace_support.h"

namespace nereid::test {
namespace {

TEST(TraceControl, OnlyAssignedVarsAreCarried) {
  EXPECT_EQ(body_of([](const Inputs &in) {
              Var sum = in.n;
              Var kept = in.s;
              for (Int k : range(0, in.n, {.stages = 2}))
                sum += k;
              store(in.q, sum);
              store(in.p, kept);
            }),
            R"(  %7 = constant {bits = 0} : i32
  %8 = constant {bits = 1} : i32
  %9 = for %7, %4, %8, %4 {stages = 2} : i32 do (%10: i32, %11: i32) {
    %12 = add %11, %10 : i32
    yield %12 }
  store %1, %9
  store %0, %6
)");
}

TEST(TraceControl, AReadBeforeTheAssignmentSeesTheCarriedValue) {
  EXPECT_EQ(body_of([](const Inputs &in) {
              Var a = in.n;
              Var b = Int(1);
              for (Int k : range(0, 10, 2)) {
                Int old = a;
                a = b + k;
                b = old;
              }
              store(in.q, a - b);
            }),
            R"(  %7 = constant {bits = 0} : i32
  %8 = constant {bits = 10} : i32
  %9 = constant {bits = 2} : i32
  %10 = constant {bits = 1} : i32
  %11, %12 = for %7, %8, %9, %4, %10 {stages = 1} : i32, i32 do (%13: i32, %14: i32, %15: i32) {
    %16 = add %15, %13 : i32
    yield %16, %14 }
  %17 = sub %11, %12 : i32
  store %1, %17
)");
}

TEST(TraceControl, NestedLoopsCarryThroughBoth) {
  EXPECT_EQ(body_of([](const Inputs &in) {
              Var sum = in.n;
              Var other = in.n;
              for (Int i : range(0, 4))
                for (Int j : range(0, i))
                  sum += j * other;
              store(in.q, sum);
            }),
            R"(  %7 = constant {bits = 0} : i32
  %8 = constant {bits = 4} : i32
  %9 = constant {bits = 1} : i32
  %10 = for %7, %8, %9, %4 {stages = 1} : i32 do (%11: i32, %12: i32) {
    %13 = for %7, %11, %9, %12 {stages = 1} : i32 do (%14: i32, %15: i32) {
      %16 = mul %14, %4 : i32
      %17 = add %15, %16 : i32
      yield %17 }
    yield %13 }
  store %1, %10
)");
}

TEST(TraceControl, AShortLoopIsWrittenOut) {
  const std::string straight = body_of([](const Inputs &in) {
    Var sum = in.n;
    for (int k : {1, 4, 7})
      sum += in.n * k;
    store(in.q, sum);
  });
  EXPECT_EQ(body_of([](const Inputs &in) {
              Var sum = in.n;
              for (Int k : range(1, 8, 3, {.unroll = 3}))
                sum += in.n * k;
              store(in.q, sum);
            }),
            straight);
  EXPECT_EQ(body_of([](const Inputs &in) {
              Var sum = in.n;
              for (Long k : range(Long(1), cdiv(Int(15), 2).to<i64>(), 3, {.unroll = 1024}))
                sum += in.n * k.to<i32>();
              store(in.q, sum);
            }),
            straight)
      << "bounds are constants after folding";
}

TEST(TraceControl, AWrittenOutLoopOfNoIterationIsNothing) {
  EXPECT_EQ(body_of([](const Inputs &in) {
              Var sum = in.n;
              for (Int k : range(4, 4, {.unroll = 8}))
                sum += k;
              for (Int k : range(4, -2000000000, {.unroll = 8}))
                sum += k;
              store(in.q, sum);
            }),
            "  store %1, %4\n");
}

TEST(TraceControl, ALoopThatIsTooLongOrOfUnknownLengthStays) {
  const auto loops = [](const std::string &text) { return text.find("for ") != std::string::npos; };
  EXPECT_TRUE(loops(body_of([](const Inputs &in) {
    Var sum = in.n;
    for (Int k : range(0, 9, {.unroll = 8}))
      sum += k;
    store(in.q, sum);
  })));
  EXPECT_TRUE(loops(body_of([](const Inputs &in) {
    Var sum = in.n;
    for (Int k : range(0, in.n, {.unroll = 8}))
      sum += k;
    store(in.q, sum);
  })));
  EXPECT_TRUE(loops(body_of([](const Inputs &in) {
    Var sum = in.m;
    for (Long k : range(Long(INT64_MIN), INT64_MAX, {.unroll = 8}))
      sum += k;
    store(in.q, sum.to<i32>());
  }))) << "a length beyond 63 bits";
}

TEST(TraceControl, WrittenOutLoopsNest) {
  EXPECT_EQ(body_of([](const Inputs &in) {
              Var sum = Int(0);
              for (Int i : range(0, 3, {.unroll = 3}))
                for (Int j : range(0, i, {.unroll = 2}))
                  sum += in.n * (i * 10 + j);
              store(in.q, sum);
            }),
            body_of([](const Inputs &in) {
              Var sum = Int(0);
              for (int number : {10, 20, 21})
                sum += in.n * number;
              store(in.q, sum);
            }));
}

TEST(TraceControl, WhenGivesTheVarsThatABranchAssigns) {
  EXPECT_EQ(body_of([](const Inputs &in) {
              Var a = in.n;
              Var b = in.n;
              Var c = in.s;
              when(in.n > 3, [&] { a += 1; }, [&] { b = a * b; });
              store(in.q, a + b);
              store(in.p, c);
            }),
            R"(  %7 = constant {bits = 3} : i32
  %8 = gt %4, %7 : i1
  %9, %10 = if %8 : i32, i32 then {
    %11 = constant {bits = 1} : i32
    %12 = add %4, %11 : i32
    yield %12, %4 } else {
    %13 = mul %4, %4 : i32
    yield %4, %13 }
  %14 = add %9, %10 : i32
  store %1, %14
  store %0, %6
)");
}

TEST(TraceControl, WhenInsideALoop) {
  EXPECT_EQ(body_of([](const Inputs &in) {
              Var best = in.s;
              for (Int k : range(0, in.n))
                when(k == 2, [&] { best = best + 1; });
              store(in.p, best);
            }),
            R"(  %7 = constant {bits = 0} : i32
  %8 = constant {bits = 1} : i32
  %9 = for %7, %4, %8, %6 {stages = 1} : f32 do (%10: i32, %11: f32) {
    %12 = constant {bits = 2} : i32
    %13 = eq %10, %12 : i1
    %14 = if %13 : f32 then {
      %15 = constant {bits = 0x3f800000} : f32
      %16 = add %11, %15 : f32
      yield %16 } else {
      yield %11 }
    yield %14 }
  store %0, %9
)");
}

TEST(TraceControl, AKnownConditionChoosesWhileTracing) {
  EXPECT_EQ(body_of([](const Inputs &in) {
              int block = 16;
              when(block > 3, [&] { store(in.q, 1); }, [&] { store(in.q, 2); });
            }),
            "  %7 = constant {bits = 1} : i32\n  store %1, %7\n");
}

TEST(TraceControl, LongLoopsAndPointers) {
  EXPECT_EQ(body_of([](const Inputs &in) {
              Var p = in.p;
              for (Long k : range(0, in.m))
                p += k;
              store(p, in.s);
            }),
            R"(  %7 = constant {bits = 0} : i64
  %8 = constant {bits = 1} : i64
  %9 = for %7, %5, %8, %0 {stages = 1} : ptr<f32> do (%10: i64, %11: ptr<f32>) {
    %12 = ptr_add %11, %10 : ptr<f32>
    yield %12 }
  store %9, %6
)");
}

TEST(TraceControl, ACopyOfAVarIsAVarOfItsOwn) {
  EXPECT_EQ(body_of([](const Inputs &in) {
              Var a = in.n;
              Var b = a;
              b += 1;
              Var<i32> c = a;
              c = b;
              store(in.q, a * c);
            }),
            R"(  %7 = constant {bits = 1} : i32
  %8 = add %4, %7 : i32
  %9 = mul %4, %8 : i32
  store %1, %9
)");
}

TEST(TraceControl, AVarTakesScalarsInItsShape) {
  EXPECT_EQ(body_of([](const Inputs &in) {
              Var a = zeros<i32>({8});
              a = in.n;
              a -= 3;
              store(in.q + arange(0, 8), a);
              a = 5;
              store(in.q + arange(0, 8), a);
            }),
            R"(  %7 = broadcast %1 : ptr<i32>[8]
  %8 = arange {start = 0} : i32[8]
  %9 = ptr_add %7, %8 : ptr<i32>[8]
  %10 = broadcast %4 : i32[8]
  %11 = constant {bits = 3} : i32[8]
  %12 = sub %10, %11 : i32[8]
  store %9, %12
  %13 = constant {bits = 5} : i32[8]
  store %9, %13
)");
}

TEST(TraceControl, EveryAssignmentOperator) {
  EXPECT_EQ(body_of([](const Inputs &in) {
              Var a = in.n;
              a += 2;
              a -= 3;
              a *= 4;
              a /= 5;
              a %= 6;
              a &= 7;
              a |= 8;
              a ^= 9;
              a <<= 10;
              a >>= 11;
              store(in.q, a);
            }),
            R"(  %7 = constant {bits = 2} : i32
  %8 = add %4, %7 : i32
  %9 = constant {bits = 3} : i32
  %10 = sub %8, %9 : i32
  %11 = constant {bits = 4} : i32
  %12 = mul %10, %11 : i32
  %13 = constant {bits = 5} : i32
  %14 = div %12, %13 : i32
  %15 = constant {bits = 6} : i32
  %16 = rem %14, %15 : i32
  %17 = constant {bits = 7} : i32
  %18 = and %16, %17 : i32
  %19 = constant {bits = 8} : i32
  %20 = or %18, %19 : i32
  %21 = constant {bits = 9} : i32
  %22 = xor %20, %21 : i32
  %23 = constant {bits = 10} : i32
  %24 = shl %22, %23 : i32
  %25 = constant {bits = 11} : i32
  %26 = shr %24, %25 : i32
  store %1, %26
)");
}

} // namespace
} // namespace nereid::test
