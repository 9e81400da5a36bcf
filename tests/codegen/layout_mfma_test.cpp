// Layouts of the matrix instructions, held against the formulas of the ISA guide, and what
// pulling them back through shape operations buys: operands that lie in memory as the lanes want them.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "codegen/assign/mfma_table.h"
#include "codegen/layout/layout_transforms.h"
#include "tests/codegen/layout_owner_map.h"
#include "tests/codegen/layout_plan_simulator.h"
#include "tests/codegen/layout_samples.h"

namespace nereid::codegen {
namespace {

using samples::for_each_position;

constexpr Space reg = Space::Register, lane = Space::Lane, wave = Space::Wave;

const MfmaFacts &scaled(int64_t rows) { return find_mfma(MfmaKind::F8F6F4, rows); }

/// Bytes of 16 values along K, as tiles of fp4 codes have them.
LinearLayout fp4_bytes(int64_t rows) {
  return layout_of_elements(scaled(rows).a_layout, *find_operand(MfmaKind::F8F6F4, ir::Format::E2M1));
}

TEST(MfmaLayout, EveryInstructionHasLayoutsOfItsShape) {
  struct Case {
    MfmaKind kind;
    int64_t size, k;
  };
  for (const Case &c :
       {Case{MfmaKind::F8F6F4, 16, 128}, Case{MfmaKind::F8F6F4, 32, 64}, Case{MfmaKind::BF16, 16, 32},
        Case{MfmaKind::BF16, 32, 16}, Case{MfmaKind::F16, 16, 32}, Case{MfmaKind::F16, 32, 16},
        Case{MfmaKind::I8, 16, 64}, Case{MfmaKind::I8, 32, 32}}) {
    const MfmaFacts &mfma = find_mfma(c.kind, c.size);
    SCOPED_TRACE(mfma.intrinsic);
    EXPECT_NE(mfma.intrinsic.find(fmt::format("{0}x{0}x{1}", c.size, c.k)), std::string_view::npos);
    EXPECT_EQ(mfma.a_layout.shape(), (ir::Shape{c.size, c.k}));
    EXPECT_EQ(mfma.b_layout, permute(mfma.a_layout, {1, 0}));
    EXPECT_EQ(mfma.result_layout.shape(), (ir::Shape{c.size, c.size}));
    for (const LinearLayout *layout : {&mfma.a_layout, &mfma.b_layout, &mfma.result_layout}) {
      EXPECT_EQ(layout->lanes(), 64u);
      EXPECT_TRUE(samples::is_bijective(*layout));
    }
  }
}

TEST(MfmaLayout, LanesHoldConsecutiveK) {
  for (uint32_t rows : {16u, 32u})
    for (auto [kind, run] :
         {std::pair{MfmaKind::F8F6F4, 32u}, {MfmaKind::BF16, 8u}, {MfmaKind::F16, 8u}, {MfmaKind::I8, 16u}}) {
      const LinearLayout &layout = find_mfma(kind, rows).a_layout;
      EXPECT_EQ(layout.registers(), run);
      for_each_position(layout, [&](Position p) {
        ASSERT_EQ(layout.apply(p), (Coordinates{p.lane % rows, run * (p.lane / rows) + p.reg}));
      });
    }
}

TEST(MfmaLayout, Fp4BytesHoldTwoValuesOfK) {
  for (uint32_t rows : {16u, 32u})
    for_each_position(fp4_bytes(rows), [&](Position p) {
      ASSERT_EQ(fp4_bytes(rows).apply(p), (Coordinates{p.lane % rows, 16 * (p.lane / rows) + p.reg}));
    });
}

TEST(MfmaLayout, Fp8OperandsHoldTwoRunsOf16) {
  for (uint32_t rows : {16u, 32u})
    for (ir::Format format : {ir::Format::E4M3, ir::Format::E5M2}) {
      LinearLayout layout =
          layout_of_elements(scaled(rows).a_layout, *find_operand(MfmaKind::F8F6F4, format));
      const uint32_t half = 1024 / rows;
      for_each_position(layout, [&](Position p) {
        const uint32_t k = 16 * (p.lane / rows) + (p.reg < 16 ? p.reg : half + p.reg - 16);
        ASSERT_EQ(layout.apply(p), (Coordinates{p.lane % rows, k}));
      });
    }
}

TEST(MfmaLayout, FormatsThatAreConvertedLieAsTheInstructionsOwn) {
  for (MfmaKind kind : {MfmaKind::BF16, MfmaKind::F16}) {
    const LinearLayout &own = find_mfma(kind, 16).a_layout;
    EXPECT_EQ(layout_of_elements(own, *find_operand(kind, ir::Format::E4M3)), own);
    EXPECT_EQ(layout_of_elements(own, *find_operand(kind, ir::Format::E2M1)),
              along(reg, 1, 4) * along(lane, 0, 16) * along(lane, 1, 4));
  }
}

TEST(MfmaLayout, Results) {
  const LinearLayout &small = scaled(16).result_layout, &large = scaled(32).result_layout;
  for_each_position(small, [&](Position p) {
    EXPECT_EQ(small.apply(p), (Coordinates{4 * (p.lane / 16) + p.reg, p.lane % 16}));
  });
  for_each_position(large, [&](Position p) {
    EXPECT_EQ(large.apply(p), (Coordinates{8 * (p.reg / 4) + 4 * (p.lane / 32) + p.reg % 4, p.lane % 32}));
  });
  // Element (i, j) by the other direction of the formulas.
  samples::OwnerMap small_owner(small), large_owner(large);
  for (uint32_t i = 0; i < 32; ++i)
    for (uint32_t j = 0; j < 32; ++j) {
      EXPECT_EQ(large_owner.at({i, j}), (Position{4 * (i / 8) + i % 4, 32 * (i / 4 % 2) + j, 0}));
      if (i < 16 && j < 16) {
        EXPECT_EQ(small_owner.at({i, j}), (Position{i % 4, 16 * (i / 4) + j, 0}));
      }
    }
}

TEST(MfmaLayout, ScaleOfALaneIsThatOfItsFp4Elements) {
  for (int64_t rows : {16, 32}) {
    const LinearLayout &values = scaled(rows).a_layout, scales = layout_of_scales(values);
    EXPECT_EQ(scales, along(lane, 0, rows) * along(lane, 1, 64 / rows));
    // The amax of a group is a reduction inside the lane: the axis is all registers.
    LinearLayout groups = reshape(values, {rows, 64 / rows, 32}).value();
    for (Space space : {lane, wave})
      for (unsigned i = 0; i < groups.bits(space); ++i)
        EXPECT_EQ(groups.basis(space, i)[2], 0u);
    EXPECT_EQ(reshape(reduce_operand(scales, 2, 32), {rows, 2048 / rows}).value(), values);
  }
}

TEST(MfmaLayout, ShuffledWeightTileIsSixteenConsecutiveBytesALane) {
  // bytes [N/16, Kb/32, 2, 16, 16] in memory -> permute -> [N, Kb].
  const LinearLayout bytes = fp4_bytes(16);
  ASSERT_EQ(bytes.shape(), (ir::Shape{16, 64}));
  LinearLayout permuted = reshape(bytes, {1, 16, 2, 2, 16}).value();
  LinearLayout loaded = reshape(permute_operand(permuted, {0, 3, 1, 2, 4}), {1024}).value();
  for_each_position(loaded,
                    [&](Position p) { EXPECT_EQ(loaded.apply(p), Coordinates{16 * p.lane + p.reg}); });
  EXPECT_EQ(loaded.contiguous_registers(0), 4u);
  EXPECT_EQ(loaded, LinearLayout::blocked({1024}, {16}, {64}, {1}, {0}));
}

TEST(MfmaLayout, LargeShuffledWeightTileFollowsTheFileFormat) {
  // 96 rows (3 waves of 32) x 256 k: each wave 2 row blocks, 2 steps of k.
  LinearLayout tile = fp4_bytes(16) * along(reg, 1, 2) * along(reg, 0, 2) * along(wave, 0, 3);
  ASSERT_EQ(tile.shape(), (ir::Shape{96, 128}));
  LinearLayout split = reshape(tile, {6, 16, 4, 2, 16}).value();
  LinearLayout memory = permute_operand(split, {0, 3, 1, 2, 4});
  EXPECT_EQ(memory.shape(), (ir::Shape{6, 4, 2, 16, 16}));
  const uint32_t kb = 128;
  for_each_position(tile, [&](Position p) {
    const Coordinates at = tile.apply(p);
    const uint32_t n = at[0], k = at[1];
    EXPECT_EQ(samples::row_major(memory.shape(), memory.apply(p)),
              n / 16 * 16 * kb + k / 16 * 256 + n % 16 * 16 + k % 16);
  });
  EXPECT_EQ(memory.contiguous_registers(4), 4u);
}

TEST(MfmaLayout, ShuffledScalesAreADwordALane) {
  // 32 rows x 8 blocks of 32 k: byte 2 * (step of 128 k) + (half of 16 rows).
  LinearLayout tile = layout_of_scales(scaled(16).a_layout) * along(reg, 0, 2) * along(reg, 1, 2);
  ASSERT_EQ(tile.shape(), (ir::Shape{32, 8}));
  // Memory [R/32, S/8, 4, 16, 2, 2] -> (R/32, 2, 16, S/8, 2, 4) -> [R, S].
  LinearLayout split = reshape(tile, {1, 2, 16, 1, 2, 4}).value();
  LinearLayout loaded = reshape(permute_operand(split, {0, 5, 3, 1, 4, 2}), {256}).value();
  for_each_position(loaded, [&](Position p) { EXPECT_EQ(loaded.apply(p), Coordinates{4 * p.lane + p.reg}); });
}

TEST(MfmaLayout, PackedCodesComeFromNeighbouringRegisters) {
  // Codes of even and odd k are joined and packed into bytes: the bytes of the operand want x as the operand
  // of elements, so that quantisation needs no lane but its own.
  LinearLayout pairs = join(fp4_bytes(16));
  EXPECT_EQ(reshape(pairs, {16, 128}).value(), scaled(16).a_layout);
}

TEST(MfmaLayout, TransposedResultIsTheResultOfSwappedOperands) {
  LinearLayout transposed = permute(scaled(16).result_layout, {1, 0});
  EXPECT_EQ(transposed.contiguous_registers(1), 2u);
  for_each_position(transposed, [&](Position p) {
    EXPECT_EQ(transposed.apply(p), (Coordinates{p.lane % 16, 4 * (p.lane / 16) + p.reg}));
  });
}

TEST(MfmaLayout, ResultIsTheNextOperandByLaneExchange) {
  // C [16, 128] of eight products as the A of the next: inside the wave.
  LinearLayout c = permute(scaled(16).result_layout, {1, 0}) * along(reg, 1, 8);
  EXPECT_EQ(samples::check_conversion(c, scaled(16).a_layout, 16, {.allow_lds = false}).kind,
            ConversionKind::Lanes);
  EXPECT_EQ(samples::check_conversion(c, c.permute_registers({4, 3, 2, 1, 0}), 16).kind,
            ConversionKind::Registers);
}

} // namespace
} // namespace nereid::codegen
