#include <gtest/gtest.h>

#include "codegen/layout/layout_transforms.h"
#include "tests/codegen/layout_plan_simulator.h"

namespace nereid::codegen {
namespace {

using samples::check_conversion;
using samples::RandomLayouts;

template <class Step> const Step *first_step(const ConversionPlan &plan) {
  for (const ConversionStep &step : plan.steps)
    if (auto *found = std::get_if<Step>(&step))
      return found;
  return nullptr;
}

template <class Step> unsigned count_steps(const ConversionPlan &plan) {
  unsigned n = 0;
  for (const ConversionStep &step : plan.steps)
    n += std::holds_alternative<Step>(step);
  return n;
}

/// Mixes the columns of the given spaces of a layout with an invertible matrix.
LinearLayout mixed(RandomLayouts &random, const LinearLayout &layout, bool lanes) {
  const unsigned r = layout.bits(Space::Register), l = layout.bits(Space::Lane), w = layout.bits(Space::Wave);
  const unsigned size = lanes ? r + l : r;
  std::vector<uint64_t> bases = random.invertible(size).columns();
  for (unsigned i = size; i < r + l + w; ++i)
    bases.push_back(uint64_t(1) << i);
  return samples::map_positions(layout, BitMatrix(r + l + w, bases), {r, l, w});
}

TEST(ConversionPlan, EqualLayoutsNeedNothing) {
  RandomLayouts random(40);
  for (int trial = 0; trial < 30; ++trial) {
    LinearLayout layout = random.layout(random.shape(2, 8, trial % 2), 4, 1, random.below(3));
    ConversionPlan plan = check_conversion(layout, layout, 32);
    EXPECT_EQ(plan.kind, ConversionKind::None) << layout.text() << plan.text();
    EXPECT_TRUE(plan.steps.empty());
    EXPECT_EQ(plan.cost, 0u);
  }
}

TEST(ConversionPlan, RegistersOfALaneAreRenamed) {
  RandomLayouts random(41);
  for (int trial = 0; trial < 40; ++trial) {
    LinearLayout from = random.layout(random.shape(2, 9, trial % 2), 4, 1, random.below(3));
    LinearLayout to = mixed(random, from, false);
    ConversionPlan plan = check_conversion(from, to, 16);
    EXPECT_LE(plan.kind, ConversionKind::Registers) << from.text() << "\n"
                                                    << to.text() << "\n"
                                                    << plan.text();
    EXPECT_LE(plan.steps.size(), 1u);
  }
}

TEST(ConversionPlan, CopiesInRegistersComeAndGoByRenaming) {
  LinearLayout base = LinearLayout::blocked({16, 64}, {2, 4}, {4, 16}, {2, 1}, {1, 0});
  LinearLayout copied = LinearLayout::zeros1d(Space::Register, 2, 6) * base;
  EXPECT_EQ(check_conversion(base, copied, 32).kind, ConversionKind::Registers);
  EXPECT_EQ(check_conversion(copied, base, 32).kind, ConversionKind::Registers);
}

TEST(ConversionPlan, BroadcastOperandGivesTheResultByRenaming) {
  RandomLayouts random(42);
  for (int trial = 0; trial < 30; ++trial) {
    LinearLayout result = random.layout(random.shape(2, 8, true), 4, 1, 0);
    LinearLayout operand = broadcast_operand(result, {result.dim(0).size(), 1}).without_register_broadcast();
    // The result with coordinates clamped to the operand's is what the lowering asks the operand for.
    LinearLayout wanted = expand_dims(slice(result, 1), 1);
    EXPECT_LE(check_conversion(operand, wanted, 32).kind, ConversionKind::Registers);
  }
}

TEST(ConversionPlan, RandomExchangesInsideWavesStayInLanes) {
  RandomLayouts random(43);
  ConversionOptions lanes_only;
  lanes_only.allow_lds = false;
  for (int trial = 0; trial < 120; ++trial) {
    LinearLayout from = random.layout(random.shape(2, 6 + random.below(6), trial % 3 == 0), 6, 1, 0);
    LinearLayout to = mixed(random, from, true);
    for (unsigned bits : {8u, 16u, 32u}) {
      ConversionPlan plan = check_conversion(from, to, bits, lanes_only);
      EXPECT_LE(plan.kind, ConversionKind::Lanes);
      EXPECT_LE(count_steps<ShuffleStep>(plan), 1u);
    }
  }
}

TEST(ConversionPlan, CopiesInLanesOnEitherSide) {
  RandomLayouts random(44);
  ConversionOptions lanes_only;
  lanes_only.allow_lds = false;
  unsigned in_lanes = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const ir::Shape shape = random.shape(2, 5 + random.below(3), trial % 3 == 0);
    LinearLayout from = random.layout(shape, 6, random.below(2), 2 + random.below(3));
    LinearLayout to = random.layout(shape, from.bits(Space::Lane), from.bits(Space::Wave), random.below(4));
    if (to.bits(Space::Lane) != from.bits(Space::Lane) || to.waves() != from.waves())
      continue;
    ConversionPlan plan = check_conversion(from, to, 32, lanes_only);
    in_lanes += plan.kind == ConversionKind::Lanes;
  }
  EXPECT_GT(in_lanes, 60u);
}

TEST(ConversionPlan, LaneThatHoldsACopyIsAskedFirst) {
  // Lane bits 2..5 broadcast on both sides, in registers that differ: no data crosses lanes.
  LinearLayout from = samples::from_bases({16}, {{1}, {2}}, {{4}, {8}, {0}, {0}, {0}, {0}}, {});
  LinearLayout to = samples::from_bases({16}, {{2}, {1}}, {{4}, {8}, {1}, {0}, {0}, {0}}, {});
  ConversionPlan plan = check_conversion(from, to, 32);
  EXPECT_EQ(plan.kind, ConversionKind::Lanes);
  EXPECT_EQ(count_steps<SelectStep>(plan), 1u);
  EXPECT_EQ(count_steps<ShuffleStep>(plan), 0u);
}

TEST(ConversionPlan, OneLaneBroadcastsWithoutSelects) {
  LinearLayout from = LinearLayout::identity1d(Space::Lane, 1, 0, 64);
  LinearLayout to =
      LinearLayout::identity1d(Space::Register, 1, 0, 64) * LinearLayout::zeros1d(Space::Lane, 1, 64);
  ConversionOptions lanes_only;
  lanes_only.allow_lds = false;
  ConversionPlan plan = check_conversion(from, to, 32, lanes_only);
  EXPECT_EQ(count_steps<SelectStep>(plan), 0u);
  EXPECT_EQ(count_steps<ShuffleStep>(plan), 1u);
}

TEST(ConversionPlan, TransposesOfRegistersAndLanesAreSwaps) {
  LinearLayout from = LinearLayout::identity1d(Space::Register, 2, 1, 4) *
                      LinearLayout::identity1d(Space::Lane, 2, 0, 16) *
                      LinearLayout::identity1d(Space::Lane, 2, 1, 4);
  auto swapped = [&](std::vector<std::pair<unsigned, unsigned>> pairs) {
    std::vector<uint64_t> bases = BitMatrix::identity(8).columns();
    for (auto [reg, lane] : pairs)
      std::swap(bases[reg], bases[2 + lane]);
    return samples::map_positions(from, BitMatrix(8, bases), {2, 6, 0});
  };
  ConversionPlan half = check_conversion(from, swapped({{1, 5}}), 32);
  ASSERT_EQ(count_steps<SwapStep>(half), 1u) << half.text();
  EXPECT_EQ(first_step<SwapStep>(half)->lane_bit, 5u);
  EXPECT_EQ(count_steps<ShuffleStep>(half), 0u);
  ConversionPlan row = check_conversion(from, swapped({{0, 4}}), 32);
  ASSERT_EQ(count_steps<SwapStep>(row), 1u) << row.text();
  EXPECT_EQ(first_step<SwapStep>(row)->lane_bit, 4u);
  ConversionPlan both = check_conversion(from, swapped({{0, 5}, {1, 4}}), 32);
  EXPECT_EQ(count_steps<SwapStep>(both), 2u) << both.text();
  EXPECT_EQ(count_steps<ShuffleStep>(both), 0u);
  // Two 16-bit elements that stay together share a word.
  ConversionPlan packed = check_conversion(from, swapped({{1, 5}}), 16);
  EXPECT_EQ(first_step<SwapStep>(packed)->pack_bits, 1u);
  for (unsigned lane = 0; lane < 4; ++lane) {
    ConversionPlan within_row = check_conversion(from, swapped({{1, lane}}), 32);
    ASSERT_EQ(count_steps<SwapStep>(within_row), 1u) << within_row.text();
    EXPECT_EQ(first_step<SwapStep>(within_row)->lane_bit, lane);
    EXPECT_EQ(count_steps<ShuffleStep>(within_row), 0u);
  }
}

TEST(ConversionPlan, RegistersWithOneSourceLaneSharePackedWords) {
  // Lanes trade places, registers stay: four bytes ride in one word.
  LinearLayout from =
      LinearLayout::identity1d(Space::Register, 1, 0, 4) * LinearLayout::identity1d(Space::Lane, 1, 0, 64);
  std::vector<uint64_t> bases = BitMatrix::identity(8).columns();
  std::swap(bases[2], bases[5]);
  ConversionPlan plan =
      check_conversion(from, samples::map_positions(from, BitMatrix(8, bases), {2, 6, 0}), 8);
  ASSERT_TRUE(first_step<ShuffleStep>(plan)) << plan.text();
  EXPECT_EQ(first_step<ShuffleStep>(plan)->pack_bits, 2u);
  EXPECT_EQ(plan.steps.size(), 1u);
}

TEST(ConversionPlan, RandomExchangesThroughLds) {
  RandomLayouts random(45);
  ConversionOptions large;
  large.lds_limit = 1 << 24;
  for (int trial = 0; trial < 60; ++trial) {
    const ir::Shape shape = random.shape(2, 8 + random.below(5), trial % 3 == 0);
    LinearLayout from = random.layout(shape, 6, 2, random.below(3));
    LinearLayout to = random.layout(shape, 6, 2, random.below(3));
    if (to.waves() != from.waves())
      continue;
    for (unsigned bits : {1u, 8u, 16u, 32u, 64u})
      check_conversion(from, to, bits, large);
  }
}

TEST(ConversionPlan, LdsInsideAWaveNeedsNoOtherWave) {
  RandomLayouts random(46);
  ConversionOptions no_lanes;
  no_lanes.allow_lanes = false;
  for (int trial = 0; trial < 40; ++trial) {
    LinearLayout from = random.layout(random.shape(2, 11, trial % 2), 6, 2, 0);
    LinearLayout to = mixed(random, from, true);
    ConversionPlan plan = check_conversion(from, to, 16, no_lanes);
    if (plan.kind == ConversionKind::Lds) {
      EXPECT_FALSE(first_step<LdsStep>(plan)->crosses_waves);
    }
  }
}

TEST(ConversionPlan, OddFactorsMoveBetweenRegistersAndWaves) {
  auto tile = [](Space odd) {
    return LinearLayout::identity1d(Space::Register, 2, 1, 8) *
           LinearLayout::identity1d(Space::Lane, 2, 0, 64) * LinearLayout::identity1d(odd, 2, 0, 3);
  };
  LinearLayout waves = tile(Space::Wave);
  LinearLayout registers = tile(Space::Register) * LinearLayout::zeros1d(Space::Wave, 2, 3);
  ConversionPlan gather = check_conversion(waves, registers, 32);
  EXPECT_EQ(gather.kind, ConversionKind::Lds);
  EXPECT_EQ(gather.lds_bytes(), 192u * 8 * 4);
  check_conversion(registers, waves, 32);
  // The same repeats on both sides stay where they are.
  EXPECT_EQ(check_conversion(waves, waves.permute_registers({2, 0, 1}), 32).kind, ConversionKind::Registers);
  // The order of two odd factors in the registers is only a name.
  LinearLayout a =
      LinearLayout::identity1d(Space::Register, 2, 0, 3) * LinearLayout::identity1d(Space::Register, 2, 1, 5);
  LinearLayout b =
      LinearLayout::identity1d(Space::Register, 2, 1, 5) * LinearLayout::identity1d(Space::Register, 2, 0, 3);
  EXPECT_EQ(check_conversion(a, b, 32).kind, ConversionKind::Registers);
}

TEST(ConversionPlan, PassesMeetASmallLimit) {
  LinearLayout from = LinearLayout::blocked({64, 256}, {1, 8}, {4, 16}, {4, 1}, {1, 0});
  LinearLayout to = LinearLayout::blocked({64, 256}, {8, 1}, {4, 16}, {1, 4}, {0, 1});
  ConversionOptions options;
  options.lds_limit = 64 * 256 * 4;
  EXPECT_EQ(first_step<LdsStep>(check_conversion(from, to, 32, options))->passes, 1u);
  options.lds_limit /= 2;
  EXPECT_EQ(first_step<LdsStep>(check_conversion(from, to, 32, options))->passes, 2u);
  LinearLayout three = LinearLayout::identity1d(Space::Register, 2, 1, 3);
  EXPECT_EQ(first_step<LdsStep>(check_conversion(from * three, to * three, 32, options))->passes, 6u);
  EXPECT_EQ(first_step<LdsStep>(check_conversion(from * three, to * three, 16))->passes, 1u);
  options.lds_limit = 64 * 256 * 4;
  EXPECT_EQ(first_step<LdsStep>(check_conversion(from * three, to * three, 32, options))->passes, 3u);
}

TEST(ConversionPlan, LimitThatPassesCannotMeetIsAnError) {
  LinearLayout from = LinearLayout::blocked({64, 64}, {1, 1}, {1, 64}, {4, 1}, {1, 0});
  LinearLayout to = LinearLayout::blocked({64, 64}, {1, 1}, {64, 1}, {1, 4}, {1, 0});
  ConversionOptions options;
  options.lds_limit = 64;
  Result<ConversionPlan> plan = plan_conversion(from, to, 32, options);
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.error().owner, Owner::Nereid);
  EXPECT_NE(plan.error().message.find("within 64 bytes of LDS"), std::string::npos) << plan.error().message;
}

TEST(ConversionPlan, LostElementsAreAnError) {
  LinearLayout from = samples::from_bases({4}, {{1}}, {{0}}, {});
  LinearLayout to = samples::from_bases({4}, {{1}}, {{2}}, {});
  Result<ConversionPlan> plan = plan_conversion(from, to, 32);
  ASSERT_FALSE(plan.ok());
  EXPECT_NE(plan.error().message.find("does not hold every element"), std::string::npos);
}

TEST(ConversionPlan, TextNamesEachStep) {
  LinearLayout from = LinearLayout::blocked({16, 64}, {1, 4}, {4, 16}, {4, 1}, {1, 0});
  LinearLayout to = LinearLayout::blocked({16, 64}, {4, 1}, {4, 16}, {1, 4}, {0, 1});
  EXPECT_NE(check_conversion(from, to, 32).text().find("lds 4096 bytes, 1 passes, across waves"),
            std::string::npos);
}

} // namespace
} // namespace nereid::codegen
