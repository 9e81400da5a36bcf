// Bank conflicts of planned exchanges, counted with the measured phases written out lane by lane.

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "codegen/convert/lds_banks.h"
#include "codegen/layout/layout_transforms.h"
#include "tests/codegen/layout_plan_simulator.h"

namespace nereid::codegen {
namespace {

using samples::check_conversion;
using samples::RandomLayouts;

struct Phases {
  unsigned banks;
  std::vector<std::vector<uint32_t>> lanes;
};

std::vector<std::vector<uint32_t>> consecutive(uint32_t lanes) {
  std::vector<std::vector<uint32_t>> phases;
  for (uint32_t first = 0; first < 64; first += lanes) {
    phases.emplace_back();
    for (uint32_t i = 0; i < lanes; ++i)
      phases.back().push_back(first + i);
  }
  return phases;
}

Phases phases(LdsDirection direction, unsigned bytes) {
  if (direction == LdsDirection::Write)
    return {32, consecutive(bytes == 16 ? 8 : bytes == 8 ? 16 : 32)};
  if (bytes != 16)
    return {64, consecutive(bytes == 8 ? 32 : 64)};
  std::vector<std::vector<uint32_t>> read = {
      {0, 1, 2, 3, 12, 13, 14, 15, 20, 21, 22, 23, 24, 25, 26, 27},
      {4, 5, 6, 7, 8, 9, 10, 11, 16, 17, 18, 19, 28, 29, 30, 31},
  };
  for (int i = 0; i < 2; ++i) {
    read.push_back(read[i]);
    for (uint32_t &lane : read.back())
      lane += 32;
  }
  return {64, read};
}

unsigned ideal(LdsDirection direction, unsigned bytes) {
  return static_cast<unsigned>(phases(direction, bytes).lanes.size());
}

unsigned counted(LdsDirection direction, unsigned bytes, const std::vector<uint32_t> &addresses) {
  unsigned clocks = 0;
  const Phases table = phases(direction, bytes);
  for (const auto &lanes : table.lanes) {
    std::map<uint32_t, std::set<uint32_t>> words;
    for (uint32_t lane : lanes)
      for (unsigned b = 0; b < bytes; b += 4)
        words[(addresses[lane] + b) / 4 % table.banks].insert((addresses[lane] + b) / 4);
    size_t most = 0;
    for (const auto &[bank, different] : words)
      most = std::max(most, different.size());
    clocks += static_cast<unsigned>(most);
  }
  return clocks;
}

const LdsStep *lds_step(const ConversionPlan &plan) {
  for (const ConversionStep &step : plan.steps)
    if (auto *lds = std::get_if<LdsStep>(&step))
      return lds;
  return nullptr;
}

/// The worst access of a side over all accesses and waves.
unsigned worst(const LdsStep &step, const LdsSide &side, LdsDirection direction, uint32_t waves) {
  unsigned most = 0;
  for (const LdsAccess &access : side.accesses)
    for (uint32_t wave = 0; wave < waves; ++wave) {
      std::vector<uint32_t> addresses;
      for (uint32_t lane = 0; lane < 64; ++lane)
        addresses.push_back(side.offset(access, lane, wave) * step.element_bytes);
      most = std::max(most, counted(direction, side.access_bytes, addresses));
    }
  return most;
}

void expect_no_conflicts(const ConversionPlan &plan, uint32_t waves) {
  const LdsStep *step = lds_step(plan);
  ASSERT_TRUE(step) << plan.text();
  EXPECT_EQ(worst(*step, step->write, LdsDirection::Write, waves),
            ideal(LdsDirection::Write, step->write.access_bytes))
      << plan.text();
  EXPECT_EQ(worst(*step, step->read, LdsDirection::Read, waves),
            ideal(LdsDirection::Read, step->read.access_bytes))
      << plan.text();
}

TEST(LdsBanks, ClocksOfKnownPatterns) {
  auto strided = [](uint32_t stride) {
    std::vector<uint32_t> addresses;
    for (uint32_t lane = 0; lane < 64; ++lane)
      addresses.push_back(lane * stride);
    return addresses;
  };
  EXPECT_EQ(lds_clocks(LdsDirection::Read, 16, strided(16)), 4u);
  EXPECT_EQ(lds_clocks(LdsDirection::Read, 16, strided(256)), 64u);
  EXPECT_EQ(lds_clocks(LdsDirection::Read, 8, strided(8)), 2u);
  EXPECT_EQ(lds_clocks(LdsDirection::Read, 4, strided(4)), 1u);
  EXPECT_EQ(lds_clocks(LdsDirection::Read, 4, strided(128)), 32u);
  EXPECT_EQ(lds_clocks(LdsDirection::Read, 4, strided(0)), 1u);
  EXPECT_EQ(lds_clocks(LdsDirection::Read, 2, strided(2)), 1u);
  EXPECT_EQ(lds_clocks(LdsDirection::Write, 16, strided(16)), 8u);
  EXPECT_EQ(lds_clocks(LdsDirection::Write, 8, strided(8)), 4u);
}

TEST(LdsBanks, ModelAgreesWithThePhasesWrittenOut) {
  std::mt19937 random(60);
  for (LdsDirection direction : {LdsDirection::Read, LdsDirection::Write})
    for (unsigned bytes : {1u, 2u, 4u, 8u, 16u})
      for (int trial = 0; trial < 20; ++trial) {
        std::vector<uint32_t> addresses(64);
        for (uint32_t &address : addresses)
          address = random() % (4096 / bytes) * bytes;
        EXPECT_EQ(lds_clocks(direction, bytes, addresses), counted(direction, bytes, addresses));
      }
}

TEST(LdsSwizzle, RowMajorBytesToMfmaOperand) {
  // Rows of 128 bytes, loaded 16 bytes a lane by consecutive lanes; four waves read the operand of 16 rows
  // each.
  const LinearLayout row = LinearLayout::identity1d(Space::Register, 2, 1, 16);
  LinearLayout loaded =
      row * LinearLayout::identity1d(Space::Lane, 2, 1, 8) * LinearLayout::identity1d(Space::Lane, 2, 0, 8) *
      LinearLayout::identity1d(Space::Wave, 2, 0, 4) * LinearLayout::identity1d(Space::Register, 2, 0, 2);
  LinearLayout operand =
      row * LinearLayout::identity1d(Space::Lane, 2, 0, 16) * LinearLayout::identity1d(Space::Lane, 2, 1, 4) *
      LinearLayout::identity1d(Space::Register, 2, 1, 2) * LinearLayout::identity1d(Space::Wave, 2, 0, 4);
  ConversionPlan plan = check_conversion(loaded, operand, 8);
  expect_no_conflicts(plan, 4);
  EXPECT_EQ(lds_step(plan)->write.access_bytes, 16u);
  EXPECT_EQ(lds_step(plan)->read.access_bytes, 16u);
  EXPECT_EQ(lds_step(plan)->write.accesses.size(), 2u);
  EXPECT_EQ(lds_step(plan)->read.accesses.size(), 2u);
}

TEST(LdsSwizzle, SharedOperandIsReadByAllWaves) {
  // One tile, quantised by four waves (a row of 128 bytes: 8 groups), wanted whole by each.
  const LinearLayout row = LinearLayout::identity1d(Space::Register, 2, 1, 16);
  LinearLayout quantised = row * LinearLayout::identity1d(Space::Lane, 2, 0, 16) *
                           LinearLayout::identity1d(Space::Lane, 2, 1, 4) *
                           LinearLayout::identity1d(Space::Wave, 2, 1, 4);
  LinearLayout wanted =
      row * LinearLayout::identity1d(Space::Lane, 2, 0, 16) * LinearLayout::identity1d(Space::Lane, 2, 1, 4) *
      LinearLayout::identity1d(Space::Register, 2, 1, 4) * LinearLayout::zeros1d(Space::Wave, 2, 4);
  ConversionPlan plan = check_conversion(quantised, wanted, 8);
  expect_no_conflicts(plan, 4);
  EXPECT_EQ(lds_step(plan)->read.access_bytes, 16u);
  EXPECT_EQ(lds_step(plan)->read.accesses.size(), 4u);
  EXPECT_EQ(lds_step(plan)->bytes(), 4096u);
}

TEST(LdsSwizzle, ResultTileToWideStores) {
  // 64x64 results of 16x16 products in four waves, stored 16 bytes a lane: f32, and bf16 after packing.
  LinearLayout result =
      LinearLayout::identity1d(Space::Register, 2, 0, 4) * LinearLayout::identity1d(Space::Lane, 2, 1, 16) *
      LinearLayout::identity1d(Space::Lane, 2, 0, 4) * LinearLayout::identity1d(Space::Register, 2, 1, 4) *
      LinearLayout::identity1d(Space::Wave, 2, 0, 4);
  expect_no_conflicts(
      check_conversion(result, LinearLayout::blocked({64, 64}, {1, 4}, {4, 16}, {4, 1}, {1, 0}), 32), 4);
  expect_no_conflicts(
      check_conversion(result, LinearLayout::blocked({64, 64}, {1, 8}, {8, 8}, {4, 1}, {1, 0}), 16), 4);
  // The same across waves.
  expect_no_conflicts(
      check_conversion(result, LinearLayout::blocked({64, 64}, {1, 8}, {8, 8}, {1, 4}, {1, 0}), 16), 4);
}

TEST(LdsSwizzle, Transposes) {
  for (unsigned bits : {8u, 16u, 32u, 64u}) {
    LinearLayout rows = LinearLayout::blocked({128, 128}, {1, 128 / bits},
                                              {64 * 128 / bits / 128, 128 * bits / 128}, {4, 1}, {1, 0});
    LinearLayout bases = permute(rows, {1, 0});
    expect_no_conflicts(check_conversion(rows, bases, bits), 4);
  }
}

TEST(LdsSwizzle, RandomTilesMeetNoBankTwice) {
  RandomLayouts random(61);
  unsigned checked = 0;
  for (int trial = 0; trial < 60; ++trial) {
    // Both sides hold some neighbours in registers, all else is random.
    const LinearLayout run = LinearLayout::identity1d(Space::Register, 2, 1, 1 << random.below(5));
    const ir::Shape shape = random.shape(2, 8 + random.below(4), false);
    LinearLayout from = run * random.layout(shape, 6, 2, 0), to = run * random.layout(shape, 6, 2, 0);
    for (unsigned bits : {8u, 16u, 32u}) {
      ConversionPlan plan = check_conversion(from, to, bits);
      const LdsStep *step = lds_step(plan);
      // With accesses of unequal width the narrow side may pay a conflict for fewer instructions of the
      // other.
      if (step && step->write.access_bytes == step->read.access_bytes) {
        expect_no_conflicts(plan, 4);
        ++checked;
      }
    }
  }
  EXPECT_GT(checked, 50u);
}

TEST(LdsSwizzle, OffsetsSplitIntoXorAndImmediate) {
  RandomLayouts random(63);
  const LinearLayout three = LinearLayout::identity1d(Space::Register, 2, 0, 3);
  for (int trial = 0; trial < 10; ++trial) {
    const ir::Shape shape = random.shape(2, 11, false);
    ConversionPlan plan =
        check_conversion(random.layout(shape, 6, 1, 0) * three, random.layout(shape, 6, 1, 0) * three, 16);
    const LdsStep *step = lds_step(plan);
    ASSERT_TRUE(step);
    for (const LdsSide *side : {&step->write, &step->read})
      for (const LdsAccess &access : side->accesses)
        for (uint32_t lane = 0; lane < 64; ++lane) {
          LdsAccess varying;
          varying.xor_offset = access.xor_offset & side->thread_bits();
          const uint32_t immediate = (access.xor_offset & ~side->thread_bits()) + access.add_offset;
          EXPECT_EQ(side->offset(access, lane, 1), side->offset(varying, lane, 1) + immediate);
        }
  }
}

TEST(LdsSwizzle, ClocksInThePlanAreThoseOfEveryAccess) {
  RandomLayouts random(62);
  for (int trial = 0; trial < 20; ++trial) {
    const ir::Shape shape = random.shape(2, 10, true);
    LinearLayout from = random.layout(shape, 6, 2, 1), to = random.layout(shape, 6, 2, 1);
    if (from.waves() != to.waves())
      continue;
    ConversionOptions options;
    options.lds_limit = 1 << 24;
    ConversionPlan plan = check_conversion(from, to, 32, options);
    if (const LdsStep *step = lds_step(plan)) {
      EXPECT_EQ(worst(*step, step->write, LdsDirection::Write, from.waves()), step->write.cycles);
      EXPECT_EQ(worst(*step, step->read, LdsDirection::Read, to.waves()), step->read.cycles);
    }
  }
}

} // namespace
} // namespace nereid::codegen
