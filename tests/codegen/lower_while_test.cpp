#include "codegen/plan/kernel_plan.h"
#include "tests/codegen/lower_traced.h"

namespace nereid::lowering_test {
namespace {

TEST(LowerWhile, CountsTheStepsOfEachStart) {
  const auto kernel = [](const TileConfig &, Ptr<const i32> starts, Ptr<i32> steps, Int n) {
    for (Int i : range(0, n)) {
      Var x = load(starts + i);
      Var count = 0;
      loop_while([&] { return x > 1; },
                 [&] {
                   when(x % 2 == 0, [&] { x /= 2; }, [&] { x = x * 3 + 1; });
                   count += 1;
                 });
      store(steps + i, count);
    }
  };
  const std::vector<int32_t> starts = {1, 0, 6, 7, 27, 97, -3};
  std::vector<int32_t> expected;
  for (int32_t x : starts) {
    int32_t count = 0;
    for (; x > 1; ++count)
      x = x % 2 == 0 ? x / 2 : 3 * x + 1;
    expected.push_back(count);
  }
  for (int waves : {1, 4})
    expect_values(traced(kernel, TileConfig{.waves = waves}),
                  {buffer(starts), {Bytes(starts.size() * 4)}, number(static_cast<int32_t>(starts.size()))},
                  1, expected);
}

TEST(LowerWhile, CarriesTilesOfEveryWidth) {
  const auto kernel = [](const TileConfig &c, Ptr<const i32> x, Ptr<i32> z, Int limit) {
    const Tile<i32> i = arange(0, c.columns);
    Var a = load(x + i).to<i8>();
    Var b = load(x + i).to<f32>();
    Var c64 = load(x + i).to<i64>();
    Var rounds = 0;
    loop_while([&] { return max(c64, axis(0)) < limit.to<i64>(); },
               [&] {
                 a += 1;
                 b *= 2;
                 c64 += 3;
                 rounds += 1;
               });
    store(z + i, a.to<i32>() + b.to<i32>() + c64.to<i32>() + rounds);
  };
  for (int columns : {1, 64, 96, 512})
    for (int waves : {1, 2, 4})
      for (int32_t limit : {-100, 0, 20}) {
        const TileConfig c{1, columns, 1, 0, waves};
        SCOPED_TRACE(config_text(c) + ", limit " + std::to_string(limit));
        std::vector<int32_t> x(c.count()), expected(c.count());
        for (size_t i = 0; i < x.size(); ++i)
          x[i] = static_cast<int32_t>(i % 5) - 2;
        const int32_t greatest = *std::max_element(x.begin(), x.end());
        int32_t rounds = 0;
        while (greatest + 3 * rounds < limit)
          ++rounds;
        for (size_t i = 0; i < x.size(); ++i)
          expected[i] = x[i] + rounds + x[i] * (1 << rounds) + x[i] + 3 * rounds + rounds;
        expect_values(traced(kernel, c), {buffer(x), {Bytes(x.size() * 4)}, number(limit)}, 1, expected);
      }
}

TEST(LowerWhile, BreakLeavesTheInnermostLoopAndKeepsTheVars) {
  const auto kernel = [](const TileConfig &, Ptr<const i32> x, Ptr<i32> z, Int n, Int wanted) {
    Var first = -1;
    Var visited = 0;
    for (Int i : range(0, n)) {
      visited += 1;
      const Int value = load(x + i);
      when(value > 0, [&] {
        first = i;
        break_when(value == wanted);
        first = -1;
      });
      visited += 100;
      break_when(value < 0);
      visited += 10000;
    }
    store(z, first);
    store(z + 1, visited);
    Var inner = 0;
    Var outer = 0;
    loop_while([] { return true; },
               [&] {
                 break_when(outer == n);
                 outer += 1;
                 for (Int k : range(0, 1000, 3)) {
                   break_when(k > outer);
                   inner += 1;
                 }
               });
    store(z + 2, inner);
    Var written_out = 0;
    for (Int k : range(0, 4, {.unroll = 4})) {
      break_when(k == wanted);
      written_out += k + 1;
    }
    store(z + 3, written_out);
  };
  const auto reference = [](const std::vector<int32_t> &x, int32_t wanted) {
    int32_t first = -1, visited = 0, inner = 0, written_out = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      visited += 1;
      if (x[i] > 0 && x[i] == wanted) {
        first = static_cast<int32_t>(i);
        break;
      }
      visited += 100;
      if (x[i] < 0)
        break;
      visited += 10000;
    }
    for (int32_t outer = 1; outer <= static_cast<int32_t>(x.size()); ++outer)
      for (int32_t k = 0; k < 1000 && k <= outer; k += 3)
        ++inner;
    for (int32_t k = 0; k < 4 && k != wanted; ++k)
      written_out += k + 1;
    return std::vector<int32_t>{first, visited, inner, written_out};
  };
  for (int waves : {1, 4})
    for (int32_t wanted : {2, 5, 9, 0})
      for (const std::vector<int32_t> &x :
           {std::vector<int32_t>{1, 2, 3, 5, 8, 13}, {4, 0, -1, 9}, {9}, {7, 7, 7}}) {
        SCOPED_TRACE(::testing::Message() << waves << " waves, " << wanted << " of " << x.size());
        expect_values(traced(kernel, TileConfig{.waves = waves}),
                      {buffer(x), {Bytes(16)}, number(static_cast<int32_t>(x.size())), number(wanted)}, 1,
                      reference(x, wanted));
      }
}

TEST(LowerWhile, ABrokenRangeEndsAtTheLargestIndex) {
  const auto kernel = [](const TileConfig &, Ptr<i32> z, Int first, Int step) {
    Var count = 0;
    Var last = -1;
    for (Int i : range(first, 2147483647, step)) {
      count += 1;
      last = i;
      break_when(count == 100);
    }
    store(z, count);
    store(z + 1, last);
  };
  const ir::Function function = traced(kernel, TileConfig{});
  expect_values<int32_t>(function, {{Bytes(8)}, number(2147483640), number(3)}, 0, {3, 2147483646});
  expect_values<int32_t>(function, {{Bytes(8)}, number(-2147483647 - 1), number(2147483647)}, 0,
                         {3, 2147483646});
  expect_values<int32_t>(function, {{Bytes(8)}, number(5), number(7)}, 0, {100, 5 + 99 * 7});
}

TEST(LowerWhile, StoresOfOneIterationAreSeenInTheNext) {
  const auto kernel = [](const TileConfig &c, Ptr<i32> x, Int n) {
    const Tile<i32> i = arange(0, c.columns);
    Var round = 0;
    loop_while([&] { return round < n; },
               [&] {
                 const Tile<i32> moved = load(x + (i + 1) % c.columns);
                 store(x + i, moved + 1);
                 round += 1;
               });
  };
  const TileConfig c{1, 256, 1, 0, 4};
  std::vector<int32_t> x(256), expected(256);
  for (int32_t i = 0; i < 256; ++i) {
    x[static_cast<size_t>(i)] = i * i;
    const int32_t from = (i + 5) % 256;
    expected[static_cast<size_t>(i)] = from * from + 5;
  }
  expect_values(traced(kernel, c), {buffer(x), number(5)}, 0, expected);
}

TEST(LowerWhile, ALoopThatAConditionEndsSaysThatNoLoadIsAhead) {
  const auto kernel = [](const TileConfig &c, Ptr<const f32> x, Ptr<f32> z, Int n) {
    const Tile<i32> at = arange(0, c.columns);
    Var sum = zeros<f32>({c.columns});
    for (Int i : range(0, n, {.stages = 4})) {
      sum += load(x + i * c.columns + at);
      break_when(i > 3);
    }
    store(z + at, sum);
  };
  const ir::Function function = traced(kernel, TileConfig{.columns = 64});
  const auto plan = codegen::plan_kernel(function);
  ASSERT_TRUE(plan.ok()) << plan.error().text();
  const std::vector<Remark> remarks = (*plan)->remarks();
  const auto found = std::find_if(remarks.begin(), remarks.end(), [](const Remark &remark) {
    return remark.kind == RemarkKind::NotPipelined;
  });
  ASSERT_NE(found, remarks.end());
  EXPECT_NE(found->message.find("a condition ends the loop"), std::string::npos) << found->message;
  EXPECT_NE(found->remedy.find("break_when"), std::string::npos);
  EXPECT_TRUE(found->where.known());
  EXPECT_NE((*plan)->text().find("ends by a condition"), std::string::npos);
}

} // namespace
} // namespace nereid::lowering_test
