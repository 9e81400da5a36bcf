#include "codegen/layout/layout_transforms.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/codegen/layout_samples.h"

namespace nereid::codegen {
namespace {

using samples::for_each_position;
using samples::RandomLayouts;
using samples::row_major;

TEST(LayoutReshape, KeepsTheRowMajorIndexOfEveryPosition) {
  RandomLayouts random(20);
  for (int trial = 0; trial < 60; ++trial) {
    LinearLayout layout = random.layout(random.shape(1 + random.below(3), 8, false), 4, 1, random.below(2));
    const ir::Shape shape = random.shape(1 + random.below(4), 8, false);
    LinearLayout result = reshape(layout, shape).value();
    for_each_position(layout, [&](Position p) {
      ASSERT_EQ(row_major(shape, result.apply(p)), row_major(layout.shape(), layout.apply(p)));
    });
    EXPECT_EQ(reshape(result, layout.shape()).value(), layout);
  }
}

TEST(LayoutReshape, GoesAroundOddFactors) {
  struct Case {
    ir::Shape from, to;
  };
  const Case cases[] = {{{48}, {3, 16}},
                        {{48}, {6, 8}},
                        {{4, 96}, {2, 2, 3, 4, 8}},
                        {{4, 3, 32}, {4, 6, 16}},
                        {{96, 160}, {3, 32, 5, 32}},
                        {{2, 48, 5}, {2, 3, 16, 5}}};
  RandomLayouts random(21);
  for (const Case &c : cases) {
    LinearLayout layout = random.layout(c.from, 3, 1, 1);
    LinearLayout result = reshape(layout, c.to).value();
    for_each_position(layout, [&](Position p) {
      ASSERT_EQ(row_major(c.to, result.apply(p)), row_major(c.from, layout.apply(p)));
    });
    EXPECT_EQ(reshape(result, c.from).value(), layout);
  }
}

TEST(LayoutReshape, NamesTheDimensionWhoseOddFactorIsInTheWay) {
  RandomLayouts random(22);
  auto message = [&](const ir::Shape &from, const ir::Shape &to) {
    Result<LinearLayout> result = reshape(random.layout(from, 2, 1, 0), to);
    EXPECT_FALSE(result.ok());
    EXPECT_EQ(result.error().owner, Owner::User);
    return result.error().message;
  };
  EXPECT_EQ(message({4, 48}, {192}),
            "cannot reshape [4, 48] to [192]: the odd factor 3 of dimension 1 is in the way");
  EXPECT_EQ(message({48, 16}, {16, 48}),
            "cannot reshape [48, 16] to [16, 48]: the odd factor 3 of dimension 0 is in the way");
  EXPECT_EQ(message({8, 3, 5}, {8, 15}),
            "cannot reshape [8, 3, 5] to [8, 15]: the odd factor 3 of dimension 1 is in the way");
  EXPECT_EQ(message({3, 8, 5, 2}, {3, 4, 5, 4}),
            "cannot reshape [3, 8, 5, 2] to [3, 4, 5, 4]: the odd factor 3 of dimension 0 is in the way");
  EXPECT_EQ(message({16, 4}, {128}), "cannot reshape [16, 4] to [128]: the numbers of elements differ");
}

TEST(LayoutReshape, ToOneDimensionIsRowMajor) {
  LinearLayout layout = LinearLayout::blocked({8, 64}, {1, 4}, {4, 16}, {2, 1}, {1, 0});
  EXPECT_EQ(reshape(layout, {512}).value().apply({3, 17, 1}), Coordinates{64 * 5 + 7});
}

TEST(LayoutPermute, MovesWholeDimensionsAndBack) {
  RandomLayouts random(23);
  for (int trial = 0; trial < 40; ++trial) {
    LinearLayout layout = random.layout(random.shape(3, 7, true), 3, 1, random.below(2));
    std::vector<int64_t> order = {0, 1, 2};
    for (unsigned i = random.below(6); i > 0; --i)
      std::next_permutation(order.begin(), order.end());
    LinearLayout result = permute(layout, order);
    for_each_position(layout, [&](Position p) {
      const Coordinates from = layout.apply(p), to = result.apply(p);
      for (unsigned i = 0; i < 3; ++i)
        ASSERT_EQ(to[i], from[order[i]]);
    });
    EXPECT_EQ(permute_operand(result, order), layout);
    EXPECT_EQ(permute(permute_operand(layout, order), order), layout);
  }
}

TEST(LayoutDims, ExpandAndSqueezeAreInverse) {
  RandomLayouts random(24);
  LinearLayout layout = random.layout({16, 12, 8}, 4, 1, 1);
  for (unsigned axis = 0; axis <= 3; ++axis) {
    LinearLayout expanded = expand_dims(layout, axis);
    EXPECT_EQ(expanded.dim(axis).size(), 1);
    for_each_position(layout, [&](Position p) {
      Coordinates at = layout.apply(p);
      at.insert(at.begin() + axis, 0);
      ASSERT_EQ(expanded.apply(p), at);
    });
    EXPECT_EQ(squeeze(expanded, axis), layout);
  }
}

TEST(LayoutBroadcast, OperandPositionsHoldTheElementUnderTheirResult) {
  RandomLayouts random(25);
  for (int trial = 0; trial < 60; ++trial) {
    LinearLayout result = random.layout(random.shape(3, 7, true), 3, 1, random.below(2));
    ir::Shape shape = result.shape();
    std::vector<bool> broadcast(3);
    for (unsigned d = 0; d < 3; ++d)
      if ((broadcast[d] = random.below(2)))
        shape[d] = 1;
    LinearLayout operand = broadcast_operand(result, shape);
    EXPECT_EQ(operand.shape(), shape);
    for_each_position(result, [&](Position p) {
      Coordinates at = result.apply(p);
      for (unsigned d = 0; d < 3; ++d)
        at[d] = broadcast[d] ? 0 : at[d];
      ASSERT_EQ(operand.apply(p), at);
    });
  }
}

TEST(LayoutReduce, LaneAndWaveBitsOnTheAxisBroadcast) {
  // 4 registers and 16 lanes along the axis.
  LinearLayout layout = LinearLayout::blocked({16, 64}, {1, 4}, {4, 16}, {4, 1}, {1, 0});
  LinearLayout result = reduce(layout, 1);
  EXPECT_EQ(result.text(), "[16] lane: 0 0 0 0 (1) (2) wave: (4) (8)");
  EXPECT_EQ(reduce(layout, 0).text(), "[64] register: (1) (2) lane: (4) (8) (16) (32) 0 0 wave: 0 0");
}

TEST(LayoutReduce, OperandHasTheAxisInRegistersAndReducesBack) {
  RandomLayouts random(26);
  for (int trial = 0; trial < 40; ++trial) {
    LinearLayout result = random.layout(random.shape(2, 6, true), 3, 1, 0);
    const unsigned axis = random.below(3);
    LinearLayout operand = reduce_operand(result, axis, 96);
    EXPECT_EQ(operand.dim(axis).size(), 96);
    EXPECT_EQ(operand.registers(), result.registers() * 96);
    EXPECT_EQ(reduce(operand, axis), result);
  }
}

TEST(LayoutReduce, TwoAxesInEitherOrderGiveTheSame) {
  RandomLayouts random(27);
  for (int trial = 0; trial < 40; ++trial) {
    LinearLayout layout = random.layout(random.shape(3, 8, true), 4, 2, random.below(2));
    LinearLayout a = slice(slice(layout, 2), 0), b = slice(slice(layout, 0), 1);
    EXPECT_EQ(a, b);
    EXPECT_EQ(a, sub_layout(layout, {1}));
    EXPECT_EQ(reduce(reduce(layout, 2), 0), reduce(reduce(layout, 0), 1));
  }
}

TEST(LayoutReduce, SliceKeepsRegisterNumbers) {
  RandomLayouts random(28);
  LinearLayout layout = random.layout({8, 24}, 3, 1, 0);
  LinearLayout result = slice(layout, 0);
  EXPECT_EQ(result.registers(), layout.registers());
  for_each_position(layout, [&](Position p) { ASSERT_EQ(result.apply(p), Coordinates{layout.apply(p)[1]}); });
}

TEST(LayoutJoin, HalvesLieInNeighbouringRegisters) {
  RandomLayouts random(29);
  for (int trial = 0; trial < 40; ++trial) {
    LinearLayout half = random.layout(random.shape(2, 6, true), 3, 1, 0);
    LinearLayout joined = join(half);
    EXPECT_EQ(reduce(joined, 2), half);
    for_each_position(half, [&](Position p) {
      for (uint32_t side = 0; side < 2; ++side) {
        Coordinates at = half.apply(p);
        at.push_back(side);
        ASSERT_EQ(joined.apply({2 * p.reg + side, p.lane, p.wave}), at);
      }
    });
  }
}

TEST(LayoutCrop, LanesBeyondTheTileBroadcastAndRegistersAreGone) {
  // 8 registers and 4 lanes along rows, 16 lanes along columns.
  LinearLayout layout = LinearLayout::blocked({32, 16}, {8, 1}, {4, 16}, {1, 1}, {0, 1});
  LinearLayout small = crop(layout, {16, 4});
  EXPECT_EQ(small.text(), "[16, 4] register: (1,0) (2,0) (4,0) lane: (8,0) 0 (0,1) (0,2) 0 0");
  EXPECT_EQ(crop(layout, {2, 16}).text(), "[2, 16] register: (1,0) lane: 0 0 (0,1) (0,2) (0,4) (0,8)");
  EXPECT_EQ(crop(layout, {64, 48}), layout) << "a larger tile leaves it as it is";
  EXPECT_EQ(crop(layout, {24, 5}).shape(), (ir::Shape{8, 1})) << "odd factors aside";
}

} // namespace
} // namespace nereid::codegen
