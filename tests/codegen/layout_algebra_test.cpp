#include <gtest/gtest.h>

#include <set>

#include "codegen/layout/layout_transforms.h"
#include "tests/codegen/layout_samples.h"

namespace nereid::codegen {
namespace {

using samples::for_each_position;
using samples::RandomLayouts;

LinearLayout along(Space space, unsigned dim, int64_t size) {
  return LinearLayout::identity1d(space, 2, dim, size);
}

TEST(LinearLayout, EmptyHoldsOneValue) {
  LinearLayout layout;
  EXPECT_EQ(layout.registers(), 1u);
  EXPECT_EQ(layout.apply({}), Coordinates{});
  EXPECT_TRUE(layout.is_bijective());
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
    LinearLayout a = any(), b = any(), c = any(), unit = LinearLayout::zeros(Space::Lane, 2, 1);
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
    ASSERT_TRUE(layout.is_bijective());
    OwnerMap owner = OwnerMap::of(layout).value();
    for_each_position(layout, [&](Position p) { ASSERT_EQ(owner.at(layout.apply(p)), p); });
    EXPECT_EQ(layout.matrix() * owner.matrix(), BitMatrix::identity(8));
    EXPECT_EQ(owner.matrix() * layout.matrix(), BitMatrix::identity(8));
  }
}

TEST(LinearLayout, OwnersOfCopiedLayoutsHoldTheElementOnceWithCopiesAtZero) {
  RandomLayouts random(13);
  for (int trial = 0; trial < 40; ++trial) {
    LinearLayout layout = random.layout(random.shape(2, 6, trial % 2), 4, 2, 1 + random.below(3)) *
                          LinearLayout::zeros(Space::Wave, 2, 3);
    ASSERT_TRUE(layout.is_surjective());
    ASSERT_FALSE(layout.is_injective());
    OwnerMap owner = OwnerMap::of(layout).value();
    std::set<Coordinates> owned, held;
    for_each_position(layout, [&](Position p) {
      const Coordinates at = layout.apply(p);
      held.insert(at);
      const uint32_t copies = p.wave >> layout.bits(Space::Wave);
      bool first = !(p.reg & layout.free_mask(Space::Register)) &&
                   !(p.lane & layout.free_mask(Space::Lane)) && !(p.wave & layout.free_mask(Space::Wave));
      // The repeat of copies was added last: it is the slowest digit of the wave number.
      first = first && copies / (layout.odd(Space::Wave) / 3) == 0;
      if (first) {
        EXPECT_TRUE(owned.insert(at).second);
        EXPECT_EQ(owner.at(at), p);
      }
    });
    EXPECT_EQ(owned, held);
    EXPECT_EQ(static_cast<int64_t>(owned.size()), samples::count(layout.shape()));
  }
}

TEST(LinearLayout, OwnerMapNamesALayoutThatLosesElements) {
  LinearLayout layout = LinearLayout::from_bases({4}, {{1}}, {{1}}, {});
  Result<OwnerMap> owner = OwnerMap::of(layout);
  ASSERT_FALSE(owner.ok());
  EXPECT_EQ(owner.error().owner, Owner::Nereid);
  EXPECT_NE(owner.error().message.find("[4] register: (1) lane: (1)"), std::string::npos);
}

TEST(LinearLayout, SurjectiveAndInjectiveAgreeWithCounting) {
  RandomLayouts random(14);
  for (int trial = 0; trial < 100; ++trial) {
    std::array<std::vector<uint64_t>, 3> bases;
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
    EXPECT_EQ(layout.is_injective(), held.size() == positions);
  }
}

TEST(LinearLayout, OddRepeatsAreOutermost) {
  LinearLayout layout = along(Space::Register, 0, 48) * along(Space::Lane, 1, 64) * along(Space::Wave, 1, 6);
  EXPECT_EQ(layout.shape(), (ir::Shape{48, 384}));
  EXPECT_EQ(layout.registers(), 48u);
  EXPECT_EQ(layout.waves(), 6u);
  EXPECT_TRUE(layout.is_bijective());
  for (uint32_t wave = 0; wave < 6; ++wave)
    for (uint32_t reg : {0u, 1u, 15u, 16u, 33u, 47u})
      EXPECT_EQ(layout.apply({reg, 5, wave}), (Coordinates{reg, 5 + 64 * (wave % 2) + 128 * (wave / 2)}));
}

TEST(LinearLayout, SeveralRepeatsShareADimensionAndASpace) {
  LinearLayout layout =
      along(Space::Wave, 0, 3) * along(Space::Register, 0, 5) * along(Space::Register, 1, 3);
  EXPECT_EQ(layout.shape(), (ir::Shape{15, 3}));
  EXPECT_EQ(layout.apply({7, 0, 2}), (Coordinates{2 + 3 * 2, 1}));
  OwnerMap owner = OwnerMap::of(layout).value();
  for_each_position(layout, [&](Position p) { EXPECT_EQ(owner.at(layout.apply(p)), p); });
}

TEST(LinearLayout, BlockedFillsElementsLanesWavesThenRegisters) {
  LinearLayout layout = LinearLayout::blocked({32, 128}, {1, 8}, {4, 16}, {2, 1}, {1, 0});
  EXPECT_EQ(layout.registers(), 32u);
  EXPECT_EQ(layout.lanes(), 64u);
  EXPECT_EQ(layout.waves(), 2u);
  EXPECT_TRUE(layout.is_bijective());
  EXPECT_EQ(layout.apply({3, 17, 1}), (Coordinates{1 + 4, 8 + 3}));
  EXPECT_EQ(layout.apply({8, 0, 0}), (Coordinates{8, 0}));
  EXPECT_EQ(layout.contiguous_registers(1), 3u);
  EXPECT_EQ(layout.contiguous_registers(0), 0u);
}

TEST(LinearLayout, BlockedKeepsCopiesInLanesThatASmallTileLeavesOver) {
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
  LinearLayout copies = LinearLayout::blocked({32, 64}, {1, 1}, {1, 64}, {3, 1}, {1, 0});
  EXPECT_EQ(copies.repeats(), (std::vector<Repeat>{{Space::Wave, 3, Repeat::copies}}));
  EXPECT_EQ(copies.apply({1, 0, 2}), (Coordinates{1, 0}));
}

TEST(LinearLayout, ContiguityCountsOnlyWhatNoOtherBitDisturbs) {
  EXPECT_EQ(LinearLayout::from_bases({16}, {{1}, {2}, {8}}, {{4}}, {}).contiguous_registers(0), 2u);
  EXPECT_EQ(LinearLayout::from_bases({16}, {{1}, {2}, {8}}, {{6}}, {}).contiguous_registers(0), 1u);
  EXPECT_EQ(LinearLayout::from_bases({16}, {{1}, {2}, {9}}, {{4}}, {}).contiguous_registers(0), 0u);
  EXPECT_EQ(LinearLayout::from_bases({2, 2}, {{0, 1}, {1, 0}}, {}, {}).contiguous_registers(0), 0u);
  EXPECT_EQ(LinearLayout::from_bases({2, 2}, {{0, 1}, {1, 0}}, {}, {}).contiguous_registers(1), 1u);
}

TEST(LinearLayout, RegisterCopiesAreRemoved) {
  LinearLayout layout = LinearLayout::from_bases({8}, {{0}, {1}, {1}, {2}, {3}}, {{4}}, {});
  LinearLayout compact = layout.without_register_broadcast();
  EXPECT_EQ(compact, LinearLayout::from_bases({8}, {{1}, {2}}, {{4}}, {}));
  EXPECT_EQ((layout * LinearLayout::zeros(Space::Register, 1, 3)).without_register_broadcast(), compact);
}

TEST(LinearLayout, NormalRegistersDependOnTheElementsOfALaneAlone) {
  RandomLayouts random(15);
  for (int trial = 0; trial < 40; ++trial) {
    LinearLayout layout = random.layout({16, 16}, 3, 1, 0);
    const unsigned registers = layout.bits(Space::Register);
    const BitMatrix mix = random.invertible(registers);
    const BitMatrix bases = BitMatrix(8, layout.bases(Space::Register)) * mix;
    LinearLayout other = LinearLayout::from_flat_bases(
        {16, 16}, {bases.columns(), layout.bases(Space::Lane), layout.bases(Space::Wave)});
    EXPECT_EQ(other.normalize_registers(), layout.normalize_registers());
    EXPECT_TRUE(layout.normalize_registers().is_bijective());
  }
  LinearLayout swapped = LinearLayout::from_bases({8}, {{4}, {1}, {2}}, {}, {});
  EXPECT_EQ(swapped.normalize_registers(), LinearLayout::identity1d(Space::Register, 1, 0, 8));
  EXPECT_EQ(swapped.permute_registers({1, 2, 0}), LinearLayout::identity1d(Space::Register, 1, 0, 8));
}

TEST(LinearLayout, CompositionOnEitherSideIsApplication) {
  RandomLayouts random(16);
  for (int trial = 0; trial < 20; ++trial) {
    LinearLayout layout = random.layout({8, 32}, 4, 1, 0);
    const BitMatrix inner = random.invertible(8), outer = random.invertible(8);
    LinearLayout mapped = layout.map_coordinates(outer, {16, 16});
    LinearLayout moved = layout.map_positions(inner, {2, 5, 1});
    EXPECT_EQ(mapped.matrix(), outer * layout.matrix());
    EXPECT_EQ(moved.matrix(), layout.matrix() * inner);
    EXPECT_EQ(moved.lanes(), 32u);
    // A layout after the inverse of itself is the identity of the coordinates.
    BitMatrix inverse = OwnerMap::of(layout).value().matrix();
    EXPECT_EQ(layout.map_positions(inverse, {8, 0, 0}).matrix(), BitMatrix::identity(8));
  }
}

TEST(LinearLayout, PartsAndTheirConcatenationGiveTheWhole) {
  RandomLayouts random(17);
  for (int trial = 0; trial < 40; ++trial) {
    LinearLayout layout = random.layout(random.shape(3, 7, true), 3, 1, 1);
    EXPECT_EQ(concat_dimensions(sub_layout(layout, {0}), sub_layout(layout, {1, 2})), layout);
    EXPECT_EQ(concat_dimensions(sub_layout(layout, {0, 1}), sub_layout(layout, {2})), layout);
    EXPECT_EQ(layout.without(Space::Wave).without(Space::Lane), layout.only(Space::Register));
    EXPECT_EQ(layout.only(Space::Lane).bases(Space::Lane), layout.bases(Space::Lane));
  }
}

TEST(LinearLayout, EqualLayoutsHaveEqualHashes) {
  RandomLayouts random(18);
  std::set<size_t> hashes;
  std::set<std::string> texts;
  for (int trial = 0; trial < 200; ++trial) {
    LinearLayout layout = random.layout(random.shape(2, 6, true), 3, 1, 1);
    LinearLayout same = layout;
    EXPECT_EQ(std::hash<LinearLayout>()(same), layout.hash());
    hashes.insert(layout.hash());
    texts.insert(layout.text());
  }
  EXPECT_EQ(hashes.size(), texts.size());
}

} // namespace
} // namespace nereid::codegen
