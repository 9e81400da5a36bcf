// Long chains and deep nests are planned on small stacks, in time that grows as they do.
#include <ctime>
#include <functional>

#include <gtest/gtest.h>

#include "codegen/assign/memory_layout.h"
#include "codegen/assign/offset_bounds.h"
#include "codegen/plan/kernel_plan.h"
#include "tests/codegen/lower_harness.h"
#include "tests/support/small_stack.h"

namespace nereid::codegen::testing {
namespace {

using ir::Element;

constexpr int long_chain = 7'000; ///< links, of three operations and more each

/// A loop with a dot, whose load of A has an offset and a mask, each the end of a long chain in the body.
ir::Function long_addresses(int chain = long_chain) {
  KernelBuilder b(2);
  ir::ValueId pa = b.pointer(Element::BF16), pb = b.pointer(Element::BF16), pc = b.pointer(Element::F32);
  ir::ValueId n = b.scalar_argument(Element::I32);
  const ir::ValueId start[] = {b.constant(ir::Type::tile(Element::F32, {16, 16}), 0)};
  ir::Builder::Loop loop = b.begin_for(b.number(0), n, b.number(32), 2, start);
  ir::ValueId offset = b.add(b.offsets({16, 32}), loop.index);
  ir::ValueId mask = b.binary(ir::Opcode::Lt, offset, n);
  for (int i = 0; i < chain; ++i) {
    offset = b.add(offset, n);
    mask = b.binary(ir::Opcode::And, mask, b.binary(ir::Opcode::Lt, offset, n));
  }
  ir::ValueId a = b.load(b.ptr_add(pa, offset), mask, {}, "");
  ir::ValueId right = b.load_tile(pb, {16, 32});
  const ir::ValueId next[] = {b.add(loop.carried[0], b.dot(a, b.permute(right, {1, 0})))};
  b.store_tile(pc, b.end_for(next)[0]);
  return b.done();
}

const ir::Op &first(const ir::Function &function, ir::Opcode opcode) {
  const ir::Op *found = nullptr;
  ir::for_each_op(function, [&](const ir::Op &op, unsigned) {
    if (!found && op.opcode == opcode)
      found = &op;
  });
  return *found;
}

TEST(SmallStack, InductionMasksAndAddresses) {
  const ir::Function function = long_addresses();
  const FunctionIndex index(function);
  const AxisAnalysis axes(index);
  const ValueRanges ranges(index);
  const ir::Op &loop = first(function, ir::Opcode::For), &load = first(function, ir::Opcode::Load);
  test::on_small_stack([&] {
    const LoopInduction induction(index, axes, loop);
    EXPECT_EQ(induction.change(load.operands[0]), 64);
    EXPECT_FALSE(induction.has_max_element(load.operands[1]));
    const Decision<StreamingLoop> streaming = find_streaming_loop(index, axes, loop);
    EXPECT_FALSE(streaming && streaming->loads.empty());
    // What the chain adds is the same for all threads: it is a part of the base.
    EXPECT_FALSE(OffsetBounds(index, ranges)
                     .objection(load.operands[0], default_layout(function.type(load.result()).shape, 2)));
  });
}

/// A loop that adds up loads, each with a mask and at an offset from the one before.
ir::Function many_loads(int loads) {
  KernelBuilder b(2);
  ir::ValueId p = b.pointer(Element::I32), n = b.scalar_argument(Element::I32);
  const ir::ValueId start[] = {b.constant(ir::Type::tile(Element::I32, {16, 32}), 0)};
  ir::Builder::Loop loop = b.begin_for(b.number(0), n, b.number(32), 2, start);
  ir::ValueId offset = b.add(b.offsets({16, 32}), loop.index), sum = loop.carried[0];
  for (int i = 0; i < loads; ++i) {
    offset = b.add(offset, n);
    sum = b.add(sum, b.load(b.ptr_add(p, offset), b.binary(ir::Opcode::Lt, offset, n), {}, ""));
  }
  const ir::ValueId next[] = {sum};
  b.store_tile(p, b.end_for(next)[0]);
  return b.done();
}

TEST(PlanTime, IsMeasuredWithTwentyThousandOperations) {
  unsigned count = 0;
  ir::for_each_op(long_addresses(), [&](const ir::Op &, unsigned) { ++count; });
  EXPECT_GE(count, 20'000u);
}

/// Plans on a small stack and gives the seconds of the processor that it took, remarks included.
double plan_seconds(const ir::Function &function, RemarkKind expected) {
  double seconds = 0;
  test::on_small_stack([&] {
    const auto now = [] {
      timespec time{};
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
      return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
    };
    const double start = now();
    const auto plan = plan_kernel(function);
    ASSERT_TRUE(plan) << plan.error().text();
    const std::vector<Remark> remarks = (*plan)->remarks();
    seconds = now() - start;
    ASSERT_FALSE(remarks.empty());
    EXPECT_EQ(remarks.front().kind, expected) << remarks.front().text();
  });
  return seconds;
}

// Work in proportion to the length is four times as much, and to its square 16 times.
TEST(PlanTime, GrowsWithAChainInALoop) {
  const double quarter = plan_seconds(long_addresses(long_chain / 4), RemarkKind::SplitOverWaves);
  EXPECT_LT(plan_seconds(long_addresses(), RemarkKind::SplitOverWaves), 10 * quarter);
}

TEST(PlanTime, GrowsWithTheLoadsOfALoop) {
  const double quarter = plan_seconds(many_loads(500), RemarkKind::NotPipelined);
  EXPECT_LT(plan_seconds(many_loads(2000), RemarkKind::NotPipelined), 10 * quarter);
}

/// Loops in loops, each with offsets of its own, 0, 1, ..., to which an iteration adds `step`: each loop's
/// body is analysed twice until its divisibility is found.
ir::Function nest(int depth, int64_t step) {
  KernelBuilder b(1);
  ir::ValueId p = b.pointer(Element::I32), n = b.scalar_argument(Element::I32);
  const ir::ValueId origin = b.arange(0, 64);
  std::vector<ir::ValueId> carried;
  for (int i = 0; i < depth; ++i) {
    const ir::ValueId start[] = {origin};
    carried.push_back(b.begin_for(b.number(0), n, b.number(1), 1, start).carried[0]);
  }
  ir::ValueId result = origin;
  for (; !carried.empty(); carried.pop_back()) {
    const ir::ValueId next[] = {b.add(carried.back(), b.number(step))};
    result = b.end_for(next)[0];
  }
  b.store(b.ptr_add(p, result), result, {}, "");
  return b.done();
}

// If each loop doubled the work, 32 would make it four billion times as much: this test would not end.
TEST(PlanTime, GrowsWithTheDepthOfANest) {
  for (int depth : {2, 32})
    for (int64_t step : {8, 4, 1}) {
      const ir::Function function = nest(depth, step);
      const ir::Op &store = first(function, ir::Opcode::Store);
      test::on_small_stack([&] {
        const auto plan = plan_kernel(function);
        ASSERT_TRUE(plan) << plan.error().text();
        const AxisInfo &offset = (*plan)->axes[store.operands[1]];
        EXPECT_EQ(offset.contiguity[0], 64);
        EXPECT_EQ(offset.divisibility[0], step);
      });
    }
}

// Each stage asks for its operand by two ways.
TEST(PlanTime, GrowsWithViewsThatMeetAgain) {
  KernelBuilder b(1);
  ir::ValueId p = b.pointer(Element::I32);
  ir::ValueId tile = b.load_tile(p, {32, 2});
  for (int i = 0; i < 40; ++i) {
    const auto [left, right] = b.split(tile);
    tile = b.join(left, right);
  }
  b.store_tile(p, tile);
  const ir::Function function = b.done();
  test::on_small_stack([&] {
    const auto plan = plan_kernel(function);
    ASSERT_TRUE(plan) << plan.error().text();
    EXPECT_TRUE((*plan)->remarks().empty());
  });
}

} // namespace
} // namespace nereid::codegen::testing
