
#include "dsl/interpreter/interpreter.h"
#include "dsl/ir/canonical.h"
#include "dsl/ir/parser.h"
#include "dsl/ir/verifier.h"
#include "tests/dsl/trace_support.h"
#include "tests/support/small_stack.h"

namespace nereid::test {
namespace {

/// Traces the body and takes its function through all that dsl/ does with one.
void check_all_of_dsl(Body body, int32_t expected) {
  const Result<ir::Function> traced = trace_body(body);
  ASSERT_TRUE(traced.ok()) << traced.error().text();
  const std::string text = ir::print(*traced);
  const Result<ir::Function> parsed = ir::parse(text);
  ASSERT_TRUE(parsed.ok()) << parsed.error().text();
  const Status verified = ir::verify(*parsed);
  ASSERT_TRUE(verified.ok()) << verified.error().text();
  EXPECT_TRUE(ir::print(ir::canonicalize(*parsed)) == text);
  std::vector<int32_t> q = {3, 0};
  HostMemory memory;
  ASSERT_TRUE(memory.add(q.data(), 8, "q").ok());
  const InterpretArgument arguments[] = {InterpretArgument::pointer(q.data()),
                                         InterpretArgument::pointer(q.data()),
                                         InterpretArgument::pointer(q.data()),
                                         InterpretArgument::pointer(q.data()),
                                         InterpretArgument::i32(3),
                                         InterpretArgument::i64(5),
                                         InterpretArgument::f32(1)};
  InterpretOptions options;
  options.threads = 1; // this one
  const Status status = interpret(*parsed, {1, 1, 1}, arguments, memory, options);
  ASSERT_TRUE(status.ok()) << status.error().text();
  EXPECT_EQ(q[1], expected);
}

constexpr int chain = 20000;

TEST(Depth, AChainOfDependentOperationsNeedsNoStack) {
  on_small_stack([] {
    check_all_of_dsl(
        [](const Inputs &in) {
          Var x = in.n;
          for (int i = 0; i < chain / 2; ++i) {
            x += 3;
            x ^= in.n;
          }
          store(in.q + 1, x & 0);
        },
        0);
  });
}

TEST(Depth, AChainThroughAddressesAndLoadsNeedsNoStack) {
  on_small_stack([] {
    check_all_of_dsl(
        [](const Inputs &in) {
          Var x = in.n - in.n;
          for (int i = 0; i < chain / 4; ++i) // each address comes from the load before
            x = load(in.q + x) + load(in.q + x) - in.n - in.n;
          store(in.q + 1, x + 7);
        },
        7);
  });
}

/// `depth` loops and branches, one in the other.
void nest(const Inputs &in, Var<i32> &count, int depth) {
  if (depth == 0) {
    count += 1;
    return;
  }
  if (depth % 2 == 0)
    when(in.n > 0, [&] { nest(in, count, depth - 1); });
  else
    for (Int k : range(0, in.n - 2))
      nest(in, count, depth - 1);
}

TEST(Depth, TheDeepestNestingNeedsLittleStack) {
  on_small_stack([] {
    check_all_of_dsl(
        [](const Inputs &in) {
          Var<i32> count = 0;
          nest(in, count, 64);
          store(in.q + 1, count);
        },
        1);
  });
}

TEST(Depth, DeeperNestingIsTheUsersErrorAtItsLine) {
  const Result<ir::Function> function = trace_body([](const Inputs &in) {
    Var<i32> count = 0;
    nest(in, count, 65);
  });
  ASSERT_FALSE(function.ok());
  EXPECT_EQ(function.error().owner, Owner::User);
  EXPECT_EQ(function.error().message, "loops and branches are nested more than 64 deep");
  EXPECT_TRUE(function.error().where.file.ends_with("depth_test.cpp"));
}

} // namespace
} // namespace nereid::test
