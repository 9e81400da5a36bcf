// Counters that loops carry become functions of the index, with the values that they had.
#include "dsl/interpreter/interpreter.h"
#include "dsl/ir/induction.h"
#include "dsl/ir/verifier.h"
#include "tests/dsl/trace_support.h"

namespace nereid::test {
namespace {

/// Runs a body on q, filled with -1, and n = m = `n`; gives q.
std::vector<int32_t> run(Body body, int32_t n) {
  const Result<ir::Function> function = trace_body(body);
  EXPECT_TRUE(function.ok());
  std::vector<int32_t> q(64, -1);
  HostMemory memory;
  EXPECT_TRUE(memory.add(q.data(), q.size() * 4, "q").ok());
  const std::vector<InterpretArgument> arguments = {InterpretArgument::pointer(nullptr),
                                                    InterpretArgument::pointer(q.data()),
                                                    InterpretArgument::pointer(nullptr),
                                                    InterpretArgument::pointer(nullptr),
                                                    InterpretArgument::i32(n),
                                                    InterpretArgument::i64(n),
                                                    InterpretArgument::f32(0)};
  const Status status = interpret(*function, {1, 1, 1}, arguments, memory);
  EXPECT_TRUE(status.ok()) << status.error().text();
  return q;
}

std::vector<int32_t> filled(std::vector<int32_t> first) {
  first.resize(64, -1);
  return first;
}

TEST(Induction, APointerThatStepsIsTheIndexAddedToIt) {
  const std::string by_pointer = body_of([](const Inputs &in) {
    Var acc = zeros<f32>({64});
    Var p = in.p + arange(0, 64);
    for (Int k : range(0, in.n, 64, {.stages = 2})) {
      acc += load(p);
      p += 64;
    }
    store(in.p + arange(0, 64), acc);
  });
  const std::string by_index = body_of([](const Inputs &in) {
    Var acc = zeros<f32>({64});
    for (Int k : range(0, in.n, 64, {.stages = 2}))
      acc += load(in.p + arange(0, 64) + k);
    store(in.p + arange(0, 64), acc);
  });
  EXPECT_EQ(by_pointer, by_index);
}

TEST(Induction, AStrideOfTheLaunchMultipliesTheIndexIn64Bits) {
  const std::string text = body_of([](const Inputs &in) {
    Var acc = zeros<f32>({64});
    Var p = in.p + arange(0, 64);
    for (Int k : range(0, 4096, 16)) {
      acc += load(p);
      p += 16 * in.n;
    }
    store(in.p + arange(0, 64), acc);
  });
  EXPECT_NE(text.find("cast"), std::string::npos) << text;
  EXPECT_NE(text.find(": i64\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("div"), std::string::npos) << text; // 16 n a step of 16 is n times the index
}

TEST(Induction, OtherChangesStayCarried) {
  EXPECT_NE(body_of([](const Inputs &in) {
              Var at = Int(0);
              for (Int k : range(0, in.n))
                at = load(in.q + at);
              store(in.q, at);
            }).find("yield %"),
            std::string::npos);
  EXPECT_NE(body_of([](const Inputs &in) {
              Var count = Int(0);
              for (Int k : range(0, in.n))
                when(load(in.q + k) > 3, [&] { count += 1; });
              store(in.q, count);
            }).find("= for"),
            std::string::npos);
  // A float's sums are rounded one by one.
  EXPECT_NE(body_of([](const Inputs &in) {
              Var sum = in.s;
              for (Int k : range(0, in.n))
                sum += 0.1F;
              store(in.p, sum);
            }).find("= for"),
            std::string::npos);
}

TEST(Induction, CountersHaveTheirValuesInAndBehindTheLoop) {
  for (const int32_t n : {-3, 0, 1, 7, 12}) {
    const auto count = std::max(0, (n + 2) / 3);
    std::vector<int32_t> expected;
    for (int32_t i = 0; i < count; ++i)
      expected.push_back(100 + 5 * i);
    expected.push_back(100 + 5 * count);
    EXPECT_EQ(run(
                  [](const Inputs &in) {
                    Var at = Int(100);
                    Var p = in.q + 0;
                    for (Int k : range(0, in.n, 3)) {
                      store(p, at);
                      at += 5;
                      p += 1;
                    }
                    store(p, at);
                  },
                  n),
              filled(expected))
        << n;
  }
}

TEST(Induction, BoundsBelowZeroSubtractionsAndSums) {
  // Steps of 4 from -6: -6, -2, 2.
  EXPECT_EQ(run(
                [](const Inputs &in) {
                  Var down = Int(50);
                  Var p = in.q + 2;
                  for (Int k : range(-in.n, in.n, 4)) {
                    down -= 7;
                    down -= in.n;
                    store(p, down + k);
                    p += 2;
                    p += -1;
                  }
                  store(in.q, down);
                },
                6),
            filled({50 - 3 * 13, -1, 50 - 13 - 6, 50 - 26 - 2, 50 - 39 + 2}));
}

TEST(Induction, NestedLoopsAndTiles) {
  EXPECT_EQ(run(
                [](const Inputs &in) {
                  Var value = arange(0, 2);
                  Var p = in.q + arange(0, 2);
                  for (Int i : range(0, 2)) {
                    for (Int j : range(0, in.n)) {
                      store(p, value);
                      value += 10;
                      p += 2;
                    }
                    value += 100;
                  }
                  store(p, value);
                },
                3),
            filled({0, 1, 10, 11, 20, 21, 130, 131, 140, 141, 150, 151, 260, 261}));
}

TEST(Induction, LeavesWhatVerifies) {
  Result<ir::Function> function = trace_body([](const Inputs &in) {
    Var wide = in.m;
    Var p = in.bytes + in.m;
    for (Long k : range(in.m, in.m + 100, 8)) {
      wide += in.m * 3;
      p += wide;
      p += 12;
    }
    store(in.q, wide.to<i32>());
  });
  ASSERT_TRUE(function.ok()) << function.error().text();
  const std::string once = ir::print(*function);
  ir::rewrite_inductions(*function);
  EXPECT_TRUE(ir::verify(*function).ok());
  EXPECT_EQ(ir::print(*function), once);
}

} // namespace
} // namespace nereid::test
