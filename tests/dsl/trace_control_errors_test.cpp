#include <stdexcept>
#include <thread>

#include "tests/dsl/trace_support.h"

namespace nereid::test {
namespace {

Error error_of(Body body) {
  Result<ir::Function> function = trace_body(body);
  return function.ok() ? Error{} : function.error();
}

TEST(TraceControlErrors, Range) {
  EXPECT_REFUSED("range: a bound is a tile of shape [4]", "scalars", for (Int k : range(0, in.i({4}))){});
  EXPECT_REFUSED("range: the step is 0", "positive", for (Int k : range(0, in.n, 0)){});
  EXPECT_REFUSED("range: the step is -2", "positive", for (Int k : range(in.n, 0, -2)){});
  EXPECT_REFUSED("range: stages is 17", "1 to 16", for (Int k : range(0, in.n, {.stages = 17})){});
  EXPECT_REFUSED("range: stages is -1", "1 to 16", for (Int k : range(0, in.n, {.stages = -1})){});
  EXPECT_REFUSED("range: unroll is -1", "0 to 1024", for (Int k : range(0, in.n, {.unroll = -1})){});
  EXPECT_REFUSED("range: unroll is 1025", "0 to 1024", for (Int k : range(0, 4, {.unroll = 1025})){});
}

TEST(TraceControlErrors, WrittenOutLoops) {
  EXPECT_REFUSED("range: a bound is a tile of shape [4]", "scalars",
                 for (Int k : range(0, full<i32>({4}, 2), {.unroll = 4})){});
  EXPECT_REFUSED("range: the step is 0", "positive", for (Int k : range(0, 4, 0, {.unroll = 4})){});
  EXPECT_REFUSED("range: stages is 99", "1 to 16", for (Int k : range(0, 4, {.stages = 99, .unroll = 4})){});
  EXPECT_REFUSED("range: stages is 99", "1 to 16", for (Int k : range(4, 4, {.stages = 99, .unroll = 4})){});
  EXPECT_REFUSED("left by break, return or an exception", "when(condition",
                 for (Int k : range(0, 4, {.unroll = 4})) break);
  EXPECT_REFUSED("left by break, return or an exception", "when(condition",
                 for (Int k : range(0, 4, {.unroll = 4})) return);
  EXPECT_REFUSED(
      "one range is used for two loops", "in the head of each loop", auto r = range(0, 4, {.unroll = 4});
      for (Int k : r) {} for (Int k : r){});
}

TEST(TraceControlErrors, LeavingALoopNamesItsLine) {
  EXPECT_REFUSED("left by break, return or an exception", "when(condition", for (Int k : range(0, 4)) break);
  EXPECT_REFUSED("left by break, return or an exception", "when(condition", for (Int k : range(0, 4)) return);
  unsigned line = __LINE__ + 2;
  Error error = error_of([](const Inputs &in) {
    for (Int k : range(0, in.n)) {
      store(in.q + k, k);
      if (in.n.rank() == 0)
        break;
    }
    store(in.q, 1);
  });
  EXPECT_NE(error.message.find("left by break"), std::string::npos) << error.text();
  EXPECT_EQ(error.where.line, line);
  EXPECT_EQ(error.owner, Owner::User);
}

TEST(TraceControlErrors, AnExceptionOutOfALoopNamesTheLoop) {
  unsigned line = __LINE__ + 2;
  Error error = error_of([](const Inputs &) {
    for (Int k : range(0, 4))
      throw std::runtime_error("no such tile");
  });
  EXPECT_NE(
      error.message.find("threw an exception while it was traced, out of a loop or branch: no such tile"),
      std::string::npos)
      << error.text();
  EXPECT_EQ(error.where.line, line);
}

TEST(TraceControlErrors, AnExceptionSwallowedInTheKernelIsStillFound) {
  unsigned line = __LINE__ + 3;
  Error error = error_of([](const Inputs &in) {
    try {
      for (Int k : range(0, 4))
        throw std::runtime_error("swallowed");
    } catch (const std::runtime_error &) {
    }
    store(in.q, 1);
  });
  EXPECT_NE(error.message.find("left by break, return or an exception"), std::string::npos) << error.text();
  EXPECT_EQ(error.where.line, line);
  error = error_of([](const Inputs &in) {
    try {
      when(in.n > 0, [] { throw std::runtime_error("swallowed"); });
    } catch (const std::runtime_error &) {
    }
  });
  EXPECT_NE(error.message.find("a branch of when is left by an exception"), std::string::npos)
      << error.text();
}

TEST(TraceControlErrors, OtherExceptionsBecomeValues) {
  Error error = error_of([](const Inputs &) { throw std::out_of_range("beyond"); });
  EXPECT_EQ(error.owner, Owner::User);
  EXPECT_EQ(error.message, "kernel test threw an exception while it was traced: beyond");
  error = error_of([](const Inputs &) { throw 3; });
  EXPECT_EQ(error.message, "kernel test threw an exception while it was traced: of a type unknown to Nereid");
}

TEST(TraceControlErrors, OneRangeForTwoLoops) {
  EXPECT_REFUSED(
      "one range is used for two loops", "in the head of each loop", auto r = range(0, 4);
      for (Int k : r) {} for (Int k : r){});
}

TEST(TraceControlErrors, When) {
  EXPECT_REFUSED("when: the condition is a tile of shape [8]", "where(condition, a, b)",
                 when(in.i({8}) > 0, [] {}));
}

TEST(TraceControlErrors, AValueUsedOutsideItsRegionNamesBothLines) {
  unsigned made = __LINE__ + 4;
  Error error = error_of([](const Inputs &in) {
    std::vector<Tile<i32>> kept;
    for (Int k : range(0, in.n))
      kept.push_back(k * 2);
    store(in.q, kept[0]);
  });
  EXPECT_NE(error.message.find("trace_control_errors_test.cpp:" + std::to_string(made)), std::string::npos)
      << error.message;
  EXPECT_NE(error.message.find("trace_control_errors_test.cpp:" + std::to_string(made + 1)),
            std::string::npos)
      << error.message;
  EXPECT_NE(error.remedy.find("Declare a Var before"), std::string::npos) << error.remedy;
  EXPECT_EQ(error.where.line, made + 1);
}

TEST(TraceControlErrors, AValueOfOneBranchUsedInTheOther) {
  EXPECT_REFUSED("inside a loop or branch is used at", "Declare a Var", std::vector<Tile<i32>> kept;
                 when(in.n > 0, [&] { kept.push_back(in.n * 2); }, [&] { store(in.q, kept[0]); }));
}

TEST(TraceControlErrors, AnIndexUsedBehindItsLoop) {
  EXPECT_REFUSED("inside a loop or branch is used at", "Declare a Var", std::vector<Int> kept;
                 for (Int k : range(0, 4)) kept.push_back(k); store(in.q, kept[0] + 1));
}

TEST(TraceControlErrors, VarsKeepTheirShape) {
  EXPECT_REFUSED("a Var of shape [8] is assigned a tile of shape [4]", "zeros<T>(shape)", Var v = in.x({8});
                 v = in.x({4}));
  EXPECT_REFUSED("a Var of shape [] is assigned a tile of shape [4]", "zeros<T>(shape)", Var v = in.s;
                 v += in.x({4}));
  EXPECT_REFUSED("a Var of shape [4, 1] is assigned a tile of shape [4, 8]", "zeros<T>(shape)",
                 Var v = in.x({4, 1});
                 v = in.x({4, 8}));
  EXPECT_REFUSED("a Var of shape [] is assigned a tile of shape [16]", "zeros<T>(shape)", Var v = in.q;
                 v += arange(0, 16));
}

TEST(TraceControlErrors, TwoEffectsInOneExpression) {
  EXPECT_REFUSED("two operations with effects in one C++ expression (the other at", "two statements",
                 atomic_add(in.q, 1) + atomic_add(in.q, 2));
  EXPECT_REFUSED("two operations with effects", "two statements", store(in.q, atomic_exchange(in.q + 1, 7)));
  EXPECT_REFUSED("two operations with effects", "two statements", store(in.q, 1), store(in.q, 2));
  EXPECT_REFUSED("two operations with effects", "two statements", device_print("a"), device_print("b"));
  EXPECT_REFUSED("two operations with effects", "two statements",
                 max(atomic_max(in.q, 1), atomic_compare_exchange(in.q, 1, 2)));
}

TEST(TraceControlErrors, EffectsInStatementsAreFine) {
  Result<ir::Function> function = trace_body([](const Inputs &in) {
    Int old = atomic_add(in.q, 1);
    store(in.q + 1, old);
    when(atomic_add(in.q, 1) == 3, [&] {
      store(in.q, 0);
      store(in.q + 2, 0);
    });
    for (Int k : range(atomic_add(in.q, 2), in.n))
      store(in.q + k, k);
  });
  EXPECT_TRUE(function.ok()) << function.error().text();
}

TEST(TraceControlErrors, StaticCheck) {
  EXPECT_REFUSED("static_check: block must divide n", "config", static_check(1 > 2, "block must divide n"));
  EXPECT_EQ(body_of([](const Inputs &) { static_check(true, "never seen"); }), "");
}

TEST(TraceControlErrors, OutsideOfAKernel) {
  unsigned line = __LINE__ + 2;
  try {
    Int pid = program_id(0);
    FAIL() << "no error";
  } catch (const TraceError &error) {
    EXPECT_EQ(error.error().owner, Owner::User);
    EXPECT_EQ(error.error().message, "an operation on tiles runs outside of a kernel");
    EXPECT_EQ(error.error().where.line, line);
  }
}

TEST(TraceControlErrors, ATileOfAnotherTrace) {
  static std::vector<Tile<i32>> kept;
  ASSERT_TRUE(trace_body([](const Inputs &in) { kept.push_back(in.n); }).ok());
  EXPECT_REFUSED("a tile of another trace is used", "globals", store(in.q, kept[0]));
  kept.clear();
}

TEST(TraceControlErrors, AFailedTraceLeavesTheThreadClean) {
  EXPECT_FALSE(trace_body([](const Inputs &in) {
                 for (Int k : range(0, in.n))
                   when(in.n > 0, [&] { store(in.p, in.x({4})); });
               }).ok());
  EXPECT_EQ(body_of([](const Inputs &in) { store(in.q, in.n); }), "  store %1, %4\n");
}

TEST(TraceControlErrors, ThreadsTraceAtTheSameTime) {
  auto body = [](const Inputs &in) {
    Var acc = in.x({64});
    for (Int k : range(0, in.n))
      acc += in.x({64}) * k.to<f32>();
    store(in.p + arange(0, 64), acc);
  };
  std::string expected = body_of(body);
  std::vector<std::string> texts(4);
  std::vector<std::thread> threads;
  for (std::string &text : texts)
    threads.emplace_back([&text, body] {
      for (int i = 0; i < 50; ++i)
        text = body_of(body);
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const std::string &text : texts)
    EXPECT_EQ(text, expected);
}

} // namespace
} // namespace nereid::test
