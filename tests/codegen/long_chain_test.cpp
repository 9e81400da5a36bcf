// Chains of very many dependent operations: the analyses and the choice of layouts work them off lists, on a
// stack that does not grow with them.

#include <functional>

#include <gtest/gtest.h>

#include "codegen/analysis/value_ranges.h"
#include "codegen/assign/layout_choice.h"
#include "tests/codegen/lower_harness.h"
#include "tests/support/small_stack.h"

namespace nereid::codegen::testing {
namespace {

using ir::Element;
using ir::Opcode;

constexpr int length = 20000;

/// Everything that is found out about a function before it is lowered.
struct Analysed {
  explicit Analysed(const ir::Function &function) : index(function), axes(index), ranges(index) {
    Result<LayoutChoice> chosen =
        choose_layouts(index, axes, WaveSplitLoops(), ColumnsOfRows::TransposedReads);
    EXPECT_TRUE(chosen.ok()) << (chosen ? "" : chosen.error().text());
    if (chosen)
      layouts = std::move(chosen).value();
  }

  FunctionIndex index;
  AxisAnalysis axes;
  ValueRanges ranges;
  LayoutChoice layouts;
};

void expect(const ir::Function &function, const std::function<void(const Analysed &)> &holds) {
  test::on_small_stack([&] { holds(Analysed(function)); });
}

TEST(LongChain, OfSumsHasTheLayoutOfTheDotAtItsEnd) {
  KernelBuilder b(4);
  const ir::ValueId first = b.load_tile(b.pointer(Element::BF16), {64, 64});
  ir::ValueId sum = first;
  for (int i = 0; i < length; ++i)
    sum = b.add(sum, first);
  b.store_tile(b.pointer(Element::F32), b.dot(sum, b.load_tile(b.pointer(Element::BF16), {64, 64})));
  expect(b.done(), [&](const Analysed &analysed) {
    ASSERT_EQ(analysed.layouts.dots.size(), 1u);
    const LinearLayout &wanted = analysed.layouts.dots.begin()->second.a.layout;
    EXPECT_EQ(analysed.layouts.layout(first), wanted);
    EXPECT_EQ(analysed.layouts.layout(sum), wanted);
  });
}

TEST(LongChain, OfSumsOfIntegersKeepsWhatIsKnownOfThem) {
  KernelBuilder b(1);
  ir::ValueId sum = b.arange(0, 1024);
  for (int i = 0; i < length; ++i)
    sum = b.add(sum, b.integer(Element::I32, 16, {1024}));
  b.store_tile(b.pointer(Element::I32), sum);
  expect(b.done(), [&](const Analysed &analysed) {
    EXPECT_EQ(analysed.ranges[sum], (Interval{16 * length, 16 * length + 1023}));
    EXPECT_EQ(analysed.axes[sum].contiguity[0], 1024);
    EXPECT_EQ(analysed.axes[sum].divisibility[0], 16);
  });
}

TEST(LongChain, OfViewsHandsTheLayoutThrough) {
  KernelBuilder b(4);
  const ir::ValueId loaded = b.load_tile(b.pointer(Element::F32), {32, 64});
  ir::ValueId view = loaded;
  for (int i = 0; i < length; ++i)
    view = b.permute(view, {1, 0});
  const ir::ValueId doubled = b.add(view, view);
  b.store_tile(b.pointer(Element::F32), doubled);
  expect(b.done(), [&](const Analysed &analysed) {
    EXPECT_EQ(analysed.layouts.layout(loaded), analysed.layouts.layout(doubled));
  });
}

TEST(LongChain, OfReductionsAndTheirBroadcasts) {
  KernelBuilder b(4);
  const ir::ValueId loaded = b.load_tile(b.pointer(Element::F32), {64, 64});
  ir::ValueId tile = loaded;
  for (int i = 0; i < length / 3; ++i)
    tile = b.add(b.broadcast(b.reduce(Opcode::ReduceSum, tile, 1, true), {64, 64}), tile);
  b.store_tile(b.pointer(Element::F32), tile);
  expect(b.done(), [&](const Analysed &analysed) {
    EXPECT_EQ(analysed.layouts.layout(loaded), analysed.layouts.layout(tile));
  });
}

TEST(LongChain, OfLoopsThatPassAValueOn) {
  KernelBuilder b(4);
  const ir::ValueId first = b.load_tile(b.pointer(Element::F32), {64, 64});
  ir::ValueId carried = first;
  for (int i = 0; i < length; ++i) {
    const ir::ValueId initial[] = {carried};
    ir::Builder::Loop loop = b.begin_for(b.number(0), b.number(4), b.number(1), 1, initial);
    const ir::ValueId next[] = {b.add(loop.carried[0], first)};
    carried = b.end_for(next)[0];
  }
  b.store_tile(b.pointer(Element::F32), carried);
  expect(b.done(), [&](const Analysed &analysed) {
    EXPECT_EQ(analysed.layouts.layout(first), analysed.layouts.layout(carried));
  });
}

TEST(LongChain, OfConditionsInAnAssumption) {
  KernelBuilder b(1);
  const ir::ValueId n = b.scalar_argument(Element::I32);
  ir::ValueId all = b.binary(Opcode::Lt, n, b.number(length));
  for (int i = 1; i < length; ++i)
    all = b.binary(Opcode::And, all, b.binary(Opcode::Gt, n, b.number(i - length)));
  b.assume(all);
  b.store(b.pointer(Element::I32), n, {}, "");
  expect(b.done(),
         [&](const Analysed &analysed) { EXPECT_EQ(analysed.ranges[n], (Interval{0, length - 1})); });
}

} // namespace
} // namespace nereid::codegen::testing
