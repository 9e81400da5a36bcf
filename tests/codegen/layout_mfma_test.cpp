// Layouts of the matrix instructions, built from the algebra and held against their formulas, and what
// pulling them back through shape operations buys: operands that lie in memory as the lanes want them.

#include <gtest/gtest.h>

#include "codegen/layout/layout_transforms.h"
#include "tests/codegen/layout_owner_map.h"
#include "tests/codegen/layout_plan_simulator.h"
#include "tests/codegen/layout_samples.h"

namespace nereid::codegen {
namespace {

using samples::for_each_position;

LinearLayout along(Space space, unsigned dim, int64_t size) {
  return LinearLayout::identity1d(space, 2, dim, size);
}
constexpr Space reg = Space::Register, lane = Space::Lane, wave = Space::Wave;

/// An operand whose lanes hold `run` consecutive k each.
LinearLayout operand(unsigned rows, unsigned run) {
  return along(reg, 1, run) * along(lane, 0, rows) * along(lane, 1, 64 / rows);
}

/// 8-bit operands come in two chunks of 16.
LinearLayout operand_fp8(unsigned rows) { return operand(rows, 16) * along(reg, 1, 2); }

LinearLayout result(unsigned rows) {
  LinearLayout quad = along(reg, 0, 4) * along(lane, 1, rows) * along(lane, 0, 64 / rows);
  return rows == 32 ? quad * along(reg, 0, 4) : quad;
}

LinearLayout scales(unsigned rows) { return along(lane, 0, rows) * along(lane, 1, 64 / rows); }

TEST(MfmaLayout, Fp4OperandsHold32ConsecutiveK) {
  for (uint32_t rows : {16u, 32u}) {
    LinearLayout layout = operand(rows, 32);
    EXPECT_EQ(layout.shape(), (ir::Shape{rows, 2048 / rows}));
    EXPECT_EQ(layout.contiguous_registers(1), 5u);
    for_each_position(layout, [&](Position p) {
      EXPECT_EQ(layout.apply(p), (Coordinates{p.lane % rows, 32 * (p.lane / rows) + p.reg}));
    });
  }
}

TEST(MfmaLayout, Fp8OperandsHoldTwoChunksOf16) {
  for (uint32_t rows : {16u, 32u}) {
    LinearLayout layout = operand_fp8(rows);
    const uint32_t half = 1024 / rows;
    for_each_position(layout, [&](Position p) {
      const uint32_t k = 16 * (p.lane / rows) + (p.reg < 16 ? p.reg : half + p.reg - 16);
      EXPECT_EQ(layout.apply(p), (Coordinates{p.lane % rows, k}));
    });
  }
}

TEST(MfmaLayout, SixteenBitOperandsHold8ConsecutiveK) {
  for (uint32_t rows : {16u, 32u})
    for_each_position(operand(rows, 8), [&](Position p) {
      EXPECT_EQ(operand(rows, 8).apply(p), (Coordinates{p.lane % rows, 8 * (p.lane / rows) + p.reg}));
    });
}

TEST(MfmaLayout, Results) {
  for_each_position(result(16), [&](Position p) {
    EXPECT_EQ(result(16).apply(p), (Coordinates{4 * (p.lane / 16) + p.reg, p.lane % 16}));
  });
  for_each_position(result(32), [&](Position p) {
    EXPECT_EQ(result(32).apply(p),
              (Coordinates{8 * (p.reg / 4) + 4 * (p.lane / 32) + p.reg % 4, p.lane % 32}));
  });
  // Element (i, j) by the other direction of the formulas.
  samples::OwnerMap small(result(16)), large(result(32));
  for (uint32_t i = 0; i < 32; ++i)
    for (uint32_t j = 0; j < 32; ++j) {
      EXPECT_EQ(large.at({i, j}), (Position{4 * (i / 8) + i % 4, 32 * (i / 4 % 2) + j, 0}));
      if (i < 16 && j < 16) {
        EXPECT_EQ(small.at({i, j}), (Position{i % 4, 16 * (i / 4) + j, 0}));
      }
    }
}

TEST(MfmaLayout, ScaleOfALaneIsThatOfItsFp4Elements) {
  for (unsigned rows : {16u, 32u}) {
    LinearLayout groups = reshape(operand(rows, 32), {rows, 64 / rows, 32}).value();
    EXPECT_EQ(reduce(groups, 2), scales(rows));
    // The amax of a group is a reduction inside the lane: the axis is all registers.
    for (Space space : {lane, wave})
      for (unsigned i = 0; i < groups.bits(space); ++i)
        EXPECT_EQ(groups.basis(space, i)[2], 0u);
    EXPECT_EQ(reshape(reduce_operand(scales(rows), 2, 32), {rows, 2048 / rows}).value(), operand(rows, 32));
  }
}

TEST(MfmaLayout, ShuffledWeightTileIsSixteenConsecutiveBytesALane) {
  // bytes [N/16, Kb/32, 2, 16, 16] in memory -> permute -> [N, Kb].
  const LinearLayout bytes = operand(16, 16);
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
  LinearLayout tile = operand(16, 16) * along(reg, 1, 2) * along(reg, 0, 2) * along(wave, 0, 3);
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
  LinearLayout tile = scales(16) * along(reg, 0, 2) * along(reg, 1, 2);
  ASSERT_EQ(tile.shape(), (ir::Shape{32, 8}));
  // Memory [R/32, S/8, 4, 16, 2, 2] -> (R/32, 2, 16, S/8, 2, 4) -> [R, S].
  LinearLayout split = reshape(tile, {1, 2, 16, 1, 2, 4}).value();
  LinearLayout loaded = reshape(permute_operand(split, {0, 5, 3, 1, 4, 2}), {256}).value();
  for_each_position(loaded, [&](Position p) { EXPECT_EQ(loaded.apply(p), Coordinates{4 * p.lane + p.reg}); });
}

TEST(MfmaLayout, PackedCodesComeFromNeighbouringRegisters) {
  // Codes of even and odd k are joined and packed into bytes: the bytes of the operand want x as the operand
  // of elements, so that quantisation needs no lane but its own.
  LinearLayout bytes = operand(16, 16);
  LinearLayout pairs = join(bytes);
  EXPECT_EQ(reshape(pairs, {16, 128}).value(), operand(16, 32));
}

TEST(MfmaLayout, TransposedResultIsTheResultOfSwappedOperands) {
  LinearLayout transposed = permute(result(16), {1, 0});
  EXPECT_EQ(transposed.contiguous_registers(1), 2u);
  for_each_position(transposed, [&](Position p) {
    EXPECT_EQ(transposed.apply(p), (Coordinates{p.lane % 16, 4 * (p.lane / 16) + p.reg}));
  });
}

TEST(MfmaLayout, ResultIsTheNextOperandByLaneExchange) {
  // C [16, 128] of eight products as the A of the next: inside the wave.
  LinearLayout c = permute(result(16), {1, 0}) * along(reg, 1, 8);
  EXPECT_NE(samples::check_conversion(c, operand(16, 32), 16).kind, ConversionKind::Registers);
  // A copy of the result in every lane of 4 and the operand of 32-bit elements agree up to renaming.
  EXPECT_EQ(samples::check_conversion(c, c.permute_registers({4, 3, 2, 1, 0}), 16).kind,
            ConversionKind::Registers);
}

} // namespace
} // namespace nereid::codegen
