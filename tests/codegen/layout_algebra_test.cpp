#include <gtest/gtest.h>

#include <set>

#include "codegen/layout/layout_error.h"
#include "tests/codegen/layout_owner_map.h"
#include "tests/codegen/layout_samples.h"

namespace nereid::codegen {
namespace {

using samples::for_each_position;
using samples::from_bases;
using samples::is_bijective;
using samples::is_injective;
using samples::OwnerMap;
using samples::RandomLayouts;

LinearLayout along(Space space, unsigned dim, int64_t size) {
  return LinearLayout::identity1d(space, 2, dim, size);
}

TEST(LinearLayout, EmptyHoldsOneValue) {
  LinearLayout layout;
  EXPECT_EQ(layout.registers(), 1u);
  EXPECT_EQ(layout.apply({}), Coordinates{});
  EXPECT_TRUE(is_bijective(layout));
}

TEST(LinearLayout, ProductConcatenatesBitsFromMinorToMajor) {
  LinearLayout layout = along(Space::Register, 1, 4) * along(Space::Lane, 0, 16) * along(Space::Lane, 1, 4);
  EXPECT_EQ(layout.shape(), (ir::Shape{16, 16}));
  for (uint32_t lane = 0; lane < 64; ++lane)
    for (uint32_t reg = 0; reg < 4; ++reg)
      EXPECT_EQ(layout.apply({reg, lane, 0}), (Coordinates{lane % 16, reg + 4 * (lane / 16)}));
  EXPECT_EQ(layout.text(), "[16, 16] register: (0,1) (0,2) lane: (1,0) (2,0) (4,0) (8,0) (0,4) (0,8)");
}

TEST(LinearLayout, ProductIsAssociativeWithUnit) {
  RandomLayouts random(10);
  for (int trial = 0; trial < 50; ++trial) {
    auto any = [&] { return random.layout(random.shape(2, 4, false), 2, 1, random.below(3)); };
    LinearLayout a = any(), b = any(), c = any(), unit = LinearLayout::zeros1d(Space::Lane, 2, 1);
    EXPECT_EQ((a * b) * c, a * (b * c));
    EXPECT_EQ(a * unit, a);
    EXPECT_EQ(unit * a, a);
  }
}

TEST(LinearLayout, DivisionUndoesTheProduct) {
  RandomLayouts random(11);
  for (int trial = 0; trial < 50; ++trial) {
    LinearLayout a = random.layout(random.shape(2, 4, false), 2, 1, random.below(3));
    LinearLayout b = random.layout(random.shape(2, 5, true), 3, 1, random.below(3));
    EXPECT_EQ(divide_left(a * b, a), b);
  }
}

TEST(LinearLayout, DivisionRefusesWhatIsNoFactor) {
  LinearLayout layout = along(Space::Register, 1, 8) * along(Space::Lane, 0, 64);
  EXPECT_TRUE(divide_left(layout, along(Space::Register, 1, 4)));
  EXPECT_FALSE(divide_left(layout, along(Space::Register, 0, 4)));
  EXPECT_FALSE(divide_left(layout, along(Space::Register, 1, 16)));
  EXPECT_FALSE(divide_left(layout, along(Space::Register, 1, 3)));
  EXPECT_FALSE(divide_left(layout, along(Space::Wave, 1, 2)));
  EXPECT_FALSE(
      divide_left(along(Space::Lane, 1, 4) * along(Space::Register, 1, 4), along(Space::Register, 1, 4)));
}

TEST(LinearLayout, BijectionsAreInvertedByTheOwnerMap) {
  RandomLayouts random(12);
  for (int trial = 0; trial < 40; ++trial) {
    LinearLayout layout = random.layout(random.shape(1 + random.below(3), 8, trial % 2), 4, 2, 0);
    ASSERT_TRUE(is_bijective(layout));
    OwnerMap owner(layout);
    for_each_position(layout, [&](Position p) { ASSERT_EQ(owner.at(layout.apply(p)), p); });
    EXPECT_EQ(layout.matrix() * owner.matrix(), BitMatrix::identity(8));
    EXPECT_EQ(owner.matrix() * layout.matrix(), BitMatrix::identity(8));
  }
}

TEST(LinearLayout, OwnersOfBroadcastElementsHaveBroadcastBitsAtZero) {
  RandomLayouts random(13);
  for (int trial = 0; trial < 40; ++trial) {
    LinearLayout layout = random.layout(random.shape(2, 6, trial % 2), 4, 2, 1 + random.below(3)) *
                          LinearLayout::zeros1d(Space::Wave, 2, 3);
    ASSERT_TRUE(layout.is_surjective());
    ASSERT_FALSE(is_injective(layout));
    OwnerMap owner(layout);
    std::set<Coordinates> owned, held;
    for_each_position(layout, [&](Position p) {
      const Coordinates at = layout.apply(p);
      held.insert(at);
      const uint32_t digits = p.wave >> layout.bits(Space::Wave);
      bool first = !(p.reg & layout.free_mask(Space::Register)) &&
                   !(p.lane & layout.free_mask(Space::Lane)) && !(p.wave & layout.free_mask(Space::Wave));
      // The repeat that broadcasts was added last: it is the slowest digit of the wave number.
      first = first && digits / (layout.odd(Space::Wave) / 3) == 0;
      if (first) {
        EXPECT_TRUE(owned.insert(at).second);
        EXPECT_EQ(owner.at(at), p);
      }
    });
    EXPECT_EQ(owned, held);
    EXPECT_EQ(static_cast<int64_t>(owned.size()), samples::count(layout.shape()));
  }
}

TEST(LinearLayout, SurjectiveAndInjectiveAgreeWithCounting) {
  RandomLayouts random(14);
  for (int trial = 0; trial < 100; ++trial) {
    Bases bases;
    for (auto &space : bases)
      for (unsigned i = random.below(3); i > 0; --i)
        space.push_back(random.below(16));
    LinearLayout layout = LinearLayout::from_flat_bases({4, 4}, bases);
    std::set<Coordinates> held;
    unsigned positions = 0;
    for_each_position(layout, [&](Position p) {
      held.insert(layout.apply(p));
      ++positions;
    });
    EXPECT_EQ(layout.is_surjective(), held.size() == 16);
    EXPECT_EQ(is_injective(layout), held.size() == positions);
  }
}

TEST(LinearLayout, OddRepeatsAreOutermost) {
  LinearLayout layout = along(Space::Register, 0, 48) * along(Space::Lane, 1, 64) * along(Space::Wave, 1, 6);
  EXPECT_EQ(layout.shape(), (ir::Shape{48, 384}));
  EXPECT_EQ(layout.registers(), 48u);
  EXPECT_EQ(layout.waves(), 6u);
  EXPECT_TRUE(is_bijective(layout));
  for (uint32_t wave = 0; wave < 6; ++wave)
    for (uint32_t reg : {0u, 1u, 15u, 16u, 33u, 47u})
      EXPECT_EQ(layout.apply({reg, 5, wave}), (Coordinates{reg, 5 + 64 * (wave % 2) + 128 * (wave / 2)}));
}

TEST(LinearLayout, SeveralRepeatsShareADimensionAndASpace) {
  LinearLayout layout =
      along(Space::Wave, 0, 3) * along(Space::Register, 0, 5) * along(Space::Register, 1, 3);
  EXPECT_EQ(layout.shape(), (ir::Shape{15, 3}));
  EXPECT_EQ(layout.apply({7, 0, 2}), (Coordinates{2 + 3 * 2, 1}));
  OwnerMap owner(layout);
  for_each_position(layout, [&](Position p) { EXPECT_EQ(owner.at(layout.apply(p)), p); });
}

TEST(LinearLayout, BlockedFillsElementsLanesWavesThenRegisters) {
  LinearLayout layout = LinearLayout::blocked({32, 128}, {1, 8}, {4, 16}, {2, 1}, {1, 0});
  EXPECT_EQ(layout.registers(), 32u);
  EXPECT_EQ(layout.lanes(), 64u);
  EXPECT_EQ(layout.waves(), 2u);
  EXPECT_TRUE(is_bijective(layout));
  EXPECT_EQ(layout.apply({3, 17, 1}), (Coordinates{1 + 4, 8 + 3}));
  EXPECT_EQ(layout.apply({8, 0, 0}), (Coordinates{8, 0}));
  EXPECT_EQ(layout.contiguous_registers(1), 3u);
  EXPECT_EQ(layout.contiguous_registers(0), 0u);
}

TEST(LinearLayout, BlockedBroadcastsToLanesThatASmallTileDoesNotNeed) {
  LinearLayout layout = LinearLayout::blocked({16}, {4}, {64}, {2}, {0});
  EXPECT_EQ(layout.registers(), 4u);
  EXPECT_EQ(layout.free_mask(Space::Lane), 0b111100u);
  EXPECT_EQ(layout.free_mask(Space::Wave), 1u);
}

TEST(LinearLayout, BlockedGivesOddFactorsToWavesThenRegisters) {
  LinearLayout three = LinearLayout::blocked({96, 64}, {1, 1}, {1, 64}, {3, 1}, {1, 0});
  EXPECT_EQ(three.repeats(), (std::vector<Repeat>{{Space::Wave, 3, 0}}));
  EXPECT_EQ(three.registers(), 32u);
  LinearLayout fifteen = LinearLayout::blocked({15, 64}, {1, 1}, {1, 64}, {6, 1}, {1, 0});
  EXPECT_EQ(fifteen.repeats(), (std::vector<Repeat>{{Space::Wave, 3, 0}, {Space::Register, 5, 0}}));
  EXPECT_EQ(fifteen.waves(), 6u);
  LinearLayout broadcast = LinearLayout::blocked({32, 64}, {1, 1}, {1, 64}, {3, 1}, {1, 0});
  EXPECT_EQ(broadcast.repeats(), (std::vector<Repeat>{{Space::Wave, 3, Repeat::broadcast}}));
  EXPECT_EQ(broadcast.apply({1, 0, 2}), (Coordinates{1, 0}));
}

TEST(LinearLayout, ContiguityCountsOnlyWhatNoOtherBitDisturbs) {
  EXPECT_EQ(from_bases({16}, {{1}, {2}, {8}}, {{4}}, {}).contiguous_registers(0), 2u);
  EXPECT_EQ(from_bases({16}, {{1}, {2}, {8}}, {{6}}, {}).contiguous_registers(0), 1u);
  EXPECT_EQ(from_bases({16}, {{1}, {2}, {9}}, {{4}}, {}).contiguous_registers(0), 0u);
  EXPECT_EQ(from_bases({2, 2}, {{0, 1}, {1, 0}}, {}, {}).contiguous_registers(0), 0u);
  EXPECT_EQ(from_bases({2, 2}, {{0, 1}, {1, 0}}, {}, {}).contiguous_registers(1), 1u);
}

TEST(LinearLayout, RegisterBroadcastsAreRemoved) {
  LinearLayout layout = from_bases({8}, {{0}, {1}, {1}, {2}, {3}}, {{4}}, {});
  LinearLayout compact = layout.without_register_broadcast();
  EXPECT_EQ(compact, from_bases({8}, {{1}, {2}}, {{4}}, {}));
  EXPECT_EQ((layout * LinearLayout::zeros1d(Space::Register, 1, 3)).without_register_broadcast(), compact);
}

TEST(LinearLayout, RegistersArePermutedAndDropped) {
  LinearLayout swapped = from_bases({8}, {{4}, {1}, {2}}, {}, {});
  EXPECT_EQ(swapped.permute_registers({1, 2, 0}), LinearLayout::identity1d(Space::Register, 1, 0, 8));
  EXPECT_EQ(swapped.without_registers(0b101), from_bases({8}, {{1}}, {}, {}));
  EXPECT_EQ(swapped.without_registers(0), swapped);
}

TEST(LinearLayout, ARegisterMovesToALaneOrWaveThatBroadcasts) {
  LinearLayout layout = from_bases({16}, {{1}, {2}, {8}}, {{4}, {0}}, {{0}});
  EXPECT_EQ(layout.move_register(1, Space::Lane, 1), from_bases({16}, {{1}, {8}}, {{4}, {2}}, {{0}}));
  EXPECT_EQ(layout.move_register(2, Space::Wave, 0), from_bases({16}, {{1}, {2}}, {{4}, {0}}, {{8}}));
  EXPECT_THROW(layout.move_register(0, Space::Lane, 0), LayoutError);
}

TEST(LinearLayout, WithoutASpaceItsBitsAndOddFactorsAreGone) {
  LinearLayout layout = along(Space::Register, 0, 4) * along(Space::Lane, 1, 8) * along(Space::Wave, 0, 6);
  LinearLayout rest = layout.without(Space::Wave);
  EXPECT_EQ(rest.waves(), 1u);
  EXPECT_EQ(rest.shape(), (ir::Shape{8, 8}));
  for (uint32_t lane = 0; lane < 8; ++lane)
    for (uint32_t reg = 0; reg < 4; ++reg)
      EXPECT_EQ(rest.apply({reg, lane, 0}), layout.apply({reg, lane, 0}));
}

} // namespace
} // namespace nereid::codegen
