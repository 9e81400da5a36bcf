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

TEST(LayoutReshape, FlattenIsOneDimension) {
  LinearLayout layout = LinearLayout::blocked({8, 64}, {1, 4}, {4, 16}, {2, 1}, {1, 0});
  EXPECT_EQ(flatten(layout).value().shape(), ir::Shape{512});
  EXPECT_EQ(flatten(layout).value().apply({3, 17, 1}), Coordinates{64 * 5 + 7});
  EXPECT_FALSE(flatten(LinearLayout::blocked({4, 48}, {1, 1}, {4, 16}, {1, 1}, {1, 0})).ok());
}

TEST(LayoutPermute, MovesWholeDimensionsAndBack) {
  RandomLayouts random(23);
  for (int trial = 0; trial < 40; ++trial) {
    LinearLayout layout = random.layout(random.shape(3, 7, true), 3, 1, random.below(2));
    std::vector<unsigned> order = {0, 1, 2};
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
    const unsigned axis = random.below(3);
    LinearLayout operand = broadcast_operand(result, axis);
    EXPECT_EQ(operand.lanes(), result.lanes());
    EXPECT_EQ(operand.waves(), result.waves());
    EXPECT_EQ(operand.free_mask_within(Space::Register), 0u);
    // No data moves between lanes: each lane has the element that it needs under every register.
    for (uint32_t wave = 0; wave < result.waves(); ++wave)
      for (uint32_t lane = 0; lane < result.lanes(); ++lane) {
        std::set<Coordinates> held, needed;
        for (uint32_t reg = 0; reg < operand.registers(); ++reg)
          EXPECT_TRUE(held.insert(operand.apply({reg, lane, wave})).second);
        for (uint32_t reg = 0; reg < result.registers(); ++reg) {
          Coordinates at = result.apply({reg, lane, wave});
          at[axis] = 0;
          needed.insert(at);
        }
        ASSERT_EQ(held, needed);
      }
  }
}

TEST(LayoutBroadcast, ForwardPutsTheNewElementsInRegisters) {
  LinearLayout operand =
      LinearLayout::identity1d(Space::Lane, 2, 0, 64) * LinearLayout::zeros(Space::Wave, 2, 3);
  for (RegisterEnd end : {RegisterEnd::Low, RegisterEnd::High}) {
    LinearLayout result = broadcast(operand, 1, 48, end);
    EXPECT_EQ(result.shape(), (ir::Shape{64, 48}));
    EXPECT_EQ(result.registers(), 48u);
    EXPECT_EQ(result.apply({40, 7, 2}), (Coordinates{7, 40}));
    EXPECT_EQ(broadcast_operand(result, 1), operand);
  }
  LinearLayout low = broadcast(LinearLayout::identity1d(Space::Register, 2, 0, 2), 1, 4, RegisterEnd::Low);
  EXPECT_EQ(low.basis(Space::Register, 0), (Coordinates{0, 1}));
  LinearLayout high = broadcast(LinearLayout::identity1d(Space::Register, 2, 0, 2), 1, 4);
  EXPECT_EQ(high.basis(Space::Register, 0), (Coordinates{1, 0}));
}

TEST(LayoutBroadcast, SeveralAxesAtOnce) {
  LinearLayout result = LinearLayout::blocked({4, 8, 16}, {1, 2, 4}, {1, 4, 4}, {4, 1, 1}, {2, 1, 0});
  EXPECT_EQ(broadcast_operand(result, ir::Shape{1, 8, 1}),
            broadcast_operand(broadcast_operand(result, 0), 2));
  EXPECT_EQ(broadcast_operand(result, ir::Shape{4, 8, 16}), result);
}

TEST(LayoutReduce, LaneAndWaveBitsOnTheAxisBecomeCopies) {
  // 4 registers and 16 lanes along the axis.
  LinearLayout layout = LinearLayout::blocked({16, 64}, {1, 4}, {4, 16}, {4, 1}, {1, 0});
  LinearLayout result = reduce(layout, 1);
  EXPECT_EQ(result.text(), "[16] lane: copy copy copy copy (1) (2) wave: (4) (8)");
  EXPECT_EQ(reduce(layout, 0).text(),
            "[64] register: (1) (2) lane: (4) (8) (16) (32) copy copy wave: copy copy");
}

TEST(LayoutReduce, OperandHasTheAxisInRegistersAndReducesBack) {
  RandomLayouts random(26);
  for (int trial = 0; trial < 40; ++trial) {
    LinearLayout result = random.layout(random.shape(2, 6, true), 3, 1, 0);
    const unsigned axis = random.below(3);
    for (RegisterEnd end : {RegisterEnd::Low, RegisterEnd::High}) {
      LinearLayout operand = reduce_operand(result, axis, 96, end);
      EXPECT_EQ(operand.dim(axis).size(), 96);
      EXPECT_EQ(operand.registers(), result.registers() * 96);
      EXPECT_EQ(reduce(operand, axis), result);
    }
  }
}

TEST(LayoutReduce, TwoAxesInEitherOrderGiveTheSame) {
  RandomLayouts random(27);
  for (int trial = 0; trial < 40; ++trial) {
    LinearLayout layout = random.layout(random.shape(3, 8, true), 4, 2, random.below(2));
    LinearLayout a = slice(slice(layout, 2), 0), b = slice(slice(layout, 0), 1);
    EXPECT_EQ(a, b);
    EXPECT_EQ(a, sub_layout(layout, {1}));
    EXPECT_EQ(reduce(reduce(layout, 2), 0).normalize_registers(),
              sub_layout(layout, {1}).normalize_registers());
  }
}

TEST(LayoutReduce, SliceKeepsRegisterNumbers) {
  RandomLayouts random(28);
  LinearLayout layout = random.layout({8, 24}, 3, 1, 0);
  LinearLayout result = slice(layout, 0);
  EXPECT_EQ(result.registers(), layout.registers());
  for_each_position(layout, [&](Position p) { ASSERT_EQ(result.apply(p), Coordinates{layout.apply(p)[1]}); });
}

TEST(LayoutSplit, JoinAndSplitAreMirrors) {
  RandomLayouts random(29);
  for (int trial = 0; trial < 40; ++trial) {
    LinearLayout half = random.layout(random.shape(2, 6, true), 3, 1, 0);
    LinearLayout joined = join(half);
    EXPECT_EQ(joined, split_operand(half));
    EXPECT_EQ(split(joined), half);
    EXPECT_EQ(join_operand(joined), half);
    EXPECT_TRUE(split_is_free(joined));
    for_each_position(half, [&](Position p) {
      for (uint32_t side = 0; side < 2; ++side) {
        Coordinates at = half.apply(p);
        at.push_back(side);
        ASSERT_EQ(joined.apply({2 * p.reg + side, p.lane, p.wave}), at);
      }
    });
  }
}

TEST(LayoutSplit, IsFreeOnlyWhenBothHalvesAreInRegisters) {
  EXPECT_TRUE(split_is_free(LinearLayout::from_bases({4, 2}, {{1, 0}, {1, 1}}, {{2, 0}}, {})));
  EXPECT_FALSE(split_is_free(LinearLayout::from_bases({4, 2}, {{1, 0}}, {{2, 0}, {0, 1}}, {})));
  EXPECT_FALSE(split_is_free(LinearLayout::from_bases({4, 2}, {{1, 0}, {0, 1}}, {{2, 1}}, {})));
  EXPECT_FALSE(split_is_free(LinearLayout::from_bases({4, 2}, {{1, 1}}, {{2, 0}, {1, 0}}, {})));
}

} // namespace
} // namespace nereid::codegen
