#include "dsl/ir/canonical.h"
#include "tests/dsl/interpreter_support.h"
#include "tests/dsl/trace_support.h"

namespace nereid::test {
namespace {

const auto sum_of_two = [](auto a, auto b) { return a + b; };

TEST(TraceWhile, TheConditionIsTracedBeforeTheLoopAndInIt) {
  EXPECT_EQ(body_of([](const Inputs &in) {
              Var left = in.n;
              Var kept = in.n;
              loop_while([&] { return left > 0; }, [&] { left -= kept; });
              store(in.q, left);
            }),
            R"(  %7 = constant {bits = 0} : i32
  %8 = gt %4, %7 : i1
  %9 = while %8, %4 : i32 do (%10: i32) {
    %11 = sub %10, %4 : i32
    %12 = gt %11, %7 : i1
    yield %12, %11 }
  store %1, %9
)");
}

TEST(TraceWhile, WhatFollowsABreakIsABranch) {
  EXPECT_EQ(body_of([](const Inputs &in) {
              Var count = 0;
              loop_while([] { return true; },
                         [&] {
                           break_when(count == in.n);
                           count += 1;
                         });
              store(in.q, count);
            }),
            R"(  %7 = constant {bits = 1} : i1
  %8 = constant {bits = 0} : i32
  %9 = while %7, %8 : i32 do (%10: i32) {
    %11 = eq %10, %4 : i1
    %12 = not %11 : i1
    %13 = if %12 : i32 then {
      %14 = constant {bits = 1} : i32
      %15 = add %10, %14 : i32
      yield %15 } else {
      yield %10 }
    %16 = constant {bits = 0} : i1
    %17 = if %12 : i1 then {
      yield %7 } else {
      yield %16 }
    yield %17, %13 }
  store %1, %9
)");
}

TEST(TraceWhile, ALoopWithoutABreakStaysAsItIs) {
  const auto text = body_of([](const Inputs &in) {
    Var sum = in.n;
    for (Int k : range(0, in.n))
      sum += k;
    store(in.q, sum);
  });
  EXPECT_NE(text.find("= for "), std::string::npos) << text;
  EXPECT_EQ(text.find("i1"), std::string::npos) << text;
}

TEST(TraceWhile, RefusesWhatIsNoCondition) {
  EXPECT_REFUSED("loop_while: the condition is a tile of shape [4], not one truth value", "any(condition",
                 loop_while([&] { return in.i({4}) > 0; }, [] {}));
  EXPECT_REFUSED("break_when: the condition is a tile of shape [4], not one truth value", "any(condition",
                 for (Int k : range(0, in.n)) break_when(in.i({4}) > k));
  EXPECT_REFUSED("break_when stands in no loop", "around it", break_when(in.n > 0));
  EXPECT_REFUSED("break_when stands in no loop", "around it", when(in.n > 0, [&] { break_when(in.n > 1); }));
  EXPECT_REFUSED("is used at", "Declare a Var", Var a = 0; std::optional<Int> inside;
                 loop_while([&] { return a < 3; },
                            [&] {
                              inside.emplace(a + 1);
                              a += 1;
                            });
                 store(in.q, *inside));
}

TEST(TraceWhile, ALoopWithoutAnEndIsReportedByTheInterpreter) {
  const unsigned line = __LINE__ + 3;
  const auto kernel = [](const NoConfig &, Ptr<i32> q) {
    Var x = load(q);
    loop_while([&] { return x != 5; }, [&] { x += 2; });
    store(q, x);
  };
  const Result<ir::Function> function = trace("endless", kernel, NoConfig{});
  ASSERT_TRUE(function.ok()) << function.error().text();
  InterpretOptions options;
  std::vector<int32_t> odd = {1 - 2 * 1000}, even = {0};
  options.while_iterations = 1002;
  EXPECT_TRUE(run_kernel(*function, {odd}, {1, 1, 1}, options).ok());
  EXPECT_EQ(odd[0], 5);
  const Status status = run_kernel(*function, {even}, {1, 1, 1}, options);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().owner, Owner::User);
  EXPECT_NE(status.error().message.find("have run 1002 iterations"), std::string::npos)
      << status.error().message;
  EXPECT_EQ(status.error().where.line, line);
}

TEST(TraceFoldFunction, OneTile) {
  EXPECT_EQ(
      body_of([](const Inputs &in) { store(in.p + arange(0, 4), reduce(in.x({4, 8}) * 2, 1, sum_of_two)); }),
      R"(  %7 = broadcast %6 : f32[4, 8]
  %8 = constant {bits = 0x40000000} : f32[4, 8]
  %9 = mul %7, %8 : f32[4, 8]
  %10 = reduce %9 {axis = 1} : f32[4] do (%11: f32, %12: f32) {
    %13 = add %11, %12 : f32
    yield %13 }
  %14 = broadcast %0 : ptr<f32>[4]
  %15 = arange {start = 0} : i32[4]
  %16 = ptr_add %14, %15 : ptr<f32>[4]
  store %16, %10
)");
}

TEST(TraceFoldFunction, AxesMayBeKeptOrAllBeReduced) {
  EXPECT_EQ(trace_body([](const Inputs &in) {
              const Tile<i32> x = in.i({4, 2, 8});
              static_check(reduce(x, keep_axis(-2), sum_of_two).shape() == Shape{4, 1, 8}, "kept");
              static_check(reduce(x, axis(0), sum_of_two).shape() == Shape{2, 8}, "first");
              static_check(reduce(x, all_axes, sum_of_two).rank() == 0, "all");
              static_check(reduce(in.n, all_axes, sum_of_two).rank() == 0, "a scalar");
              static_check(scan(x, 1, sum_of_two).shape() == Shape{4, 2, 8}, "a scan");
              static_check(sum(x, all_axes).rank() == 0, "a sum");
            }).ok(),
            true);
}

TEST(TraceFoldFunction, WhatNothingNeedsIsGoneWithAllThatItUses) {
  EXPECT_EQ(body_of([](const Inputs &in) {
              const Int extra = in.n * 3;
              Tile<i32> unused = scan(in.i({8}), 0, [&](auto a, auto b) { return a + b + extra; });
              store(in.q, in.n);
            }),
            "  store %1, %4\n");
}

TEST(TraceFoldFunction, TheCanonicalFormIsItsOwn) {
  const Result<ir::Function> function = trace_body([](const Inputs &in) {
    Tile<i32> gone = reduce(in.i({8, 8}), 0, [&](auto a, auto b) { return a * b + in.n; });
    Var x = in.i({8});
    for (Int k : range(0, in.n)) {
      break_when(k == 5);
      x = scan(x + k, 0, [&](auto a, auto b) { return a * 3 + b + in.n; });
    }
    store(in.q + arange(0, 8), x);
  });
  ASSERT_TRUE(function.ok()) << function.error().text();
  EXPECT_EQ(ir::print(ir::canonicalize(*function)), ir::print(*function));
}

TEST(TraceFoldFunction, RefusesWhatIsNoCombiningFunction) {
  EXPECT_REFUSED("reduce: axis 1 does not exist in shape [8]", "from -1 to 0",
                 reduce(in.i({8}), 1, sum_of_two));
  EXPECT_REFUSED("scan: axis 0 does not exist in shape []", "no axes", scan(in.n, 0, sum_of_two));
  EXPECT_REFUSED("reduce: the tiles have the shapes [8] and [4]", "Broadcast",
                 reduce(std::tuple(in.i({8}), in.i({4})), 0, [](auto a, auto) { return a; }));
  EXPECT_REFUSED("that is not of scalars", "scalars of two elements", Tile<i32> four = in.i({4});
                 reduce(in.i({8}), 0, [&](auto a, auto b) { return a + b + sum(four, 0); }));
  EXPECT_REFUSED("the combining function has a load", "scalars of two elements",
                 reduce(in.i({8}), 0, [&](auto a, auto b) { return a + b + load(in.q); }));
  EXPECT_REFUSED("that is not of scalars", "scalars of two elements", Tile<i32> eight = in.i({8});
                 scan(in.i({8}), 0, [&](auto a, auto b) { return a + b + eight; }));
  EXPECT_REFUSED("a combining function assigns to a Var", "only returns", Var seen = 0;
                 scan(in.i({8}), 0, [&](auto a, auto b) {
                   seen += 1;
                   return a + b;
                 }));
  EXPECT_REFUSED(
      "break_when stands in no loop", "around it", for (Int k : range(0, in.n)) {
        scan(in.i({8}), 0, [&](auto a, auto b) {
          break_when(k > 3);
          return a + b;
        });
      });
}

TEST(TraceSort, RefusesSizesAndNumbers) {
  EXPECT_REFUSED("sort: the last axis of shape [2, 12] is no power of two", "Fill it up",
                 sort(in.i({2, 12})));
  EXPECT_REFUSED("sort: the last axis of shape [] is no power of two", "Fill it up", sort(in.n));
  EXPECT_REFUSED("topk: k is 3 of 8 elements", "a power of two", topk(in.i({8}), 3));
  EXPECT_REFUSED("topk: k is 16 of 8 elements", "a power of two", topk(in.i({8}), 16));
  EXPECT_REFUSED("topk: k is 0 of 8 elements", "a power of two", topk(in.i({8}), 0));
  EXPECT_REFUSED("butterfly: the distance is 4, and axis 0 has the size 12", "0 to 3",
                 butterfly(in.i({12}), 4));
  EXPECT_REFUSED("butterfly: the distance is 1, and axis 0 has the size 5", "odd size",
                 butterfly(in.i({5}), 1));
  EXPECT_REFUSED("arange(0, 0) is empty", "greater", histogram(in.i({8}), 0));
}

} // namespace
} // namespace nereid::test
