#include <numeric>

#include <gtest/gtest.h>

#include "tests/codegen/lower_harness.h"

/// What the axis analysis proves, seen in the accesses that it allows and in those that it must not allow.
namespace nereid::codegen::testing {
namespace {

using ir::Element;
using ir::Opcode;

/// Copies the n / 2 bytes below half of n, `block` a program; n is a multiple of `divisibility`.
ir::Function copy_half(int block, int divisibility, Opcode halving) {
  KernelBuilder b(1, "copy_half");
  ir::ValueId x = b.pointer(Element::U8), z = b.pointer(Element::U8);
  ir::ValueId n = b.scalar_argument(Element::I32, divisibility);
  ir::ValueId half = b.binary(halving, n, b.number(halving == Opcode::Shr ? 1 : 2));
  ir::ValueId i = b.add(b.mul(b.program_id(0), b.number(block)), b.arange(0, block));
  ir::ValueId mask = b.binary(Opcode::Lt, i, half);
  b.store(b.ptr_add(z, i), b.load(b.ptr_add(x, i), mask, {}, ""), mask, "");
  return b.done();
}

TEST(LowerAxis, HalfOfAMultipleBoundsWideAccesses) {
  Random random(1);
  for (Opcode halving : {Opcode::Shr, Opcode::Div}) {
    const ir::Function kernel = copy_half(1024, 32, halving);
    EXPECT_NE(assembly(kernel).find("buffer_store_dwordx4"), std::string::npos);
    for (int n : {32, 1696, 2048}) {
      std::vector<uint8_t> x = random.bits<uint8_t>(n / 2), z(n / 2, 7);
      expect_same(kernel, {1, 1, 1}, {buffer(x), buffer(z), i32(n)});
    }
  }
  EXPECT_EQ(assembly(copy_half(1024, 2, Opcode::Shr)).find("buffer_store_dwordx4"), std::string::npos)
      << "half of a multiple of 2 may end inside four bytes";
}

TEST(LowerAxis, NeighboursThatLoseTheBitsInWhichTheyDifferAreEqual) {
  // x[i >> 2]: four neighbours take one element; negative i floor.
  KernelBuilder b(1, "quarter");
  ir::ValueId x = b.pointer(Element::I32), z = b.pointer(Element::I32);
  ir::ValueId i = b.binary(Opcode::Sub, b.arange(0, 1024), b.number(512));
  ir::ValueId quarter = b.binary(Opcode::Shr, i, b.number(2));
  b.store_tile(z, b.load(b.ptr_add(x, b.add(quarter, b.number(128))), {}, {}, ""));
  std::vector<int32_t> values(256), out(1024, -1);
  std::iota(values.begin(), values.end(), 1000);
  expect_same(b.done(), {1, 1, 1}, {buffer(values), buffer(out)});
}

TEST(LowerAxis, RemaindersOfNegativeNumbersAreNoRun) {
  // x[i % 64 + 63] for i from -512: the remainder is 0 at multiples of 64 and negative behind them.
  KernelBuilder b(1, "remainder");
  ir::ValueId x = b.pointer(Element::I32), z = b.pointer(Element::I32);
  ir::ValueId i = b.binary(Opcode::Sub, b.arange(0, 1024), b.number(512));
  ir::ValueId remainder = b.binary(Opcode::Rem, i, b.number(64));
  b.store_tile(z, b.load(b.ptr_add(x, b.add(remainder, b.number(64))), {}, {}, ""));
  std::vector<int32_t> values(128), out(1024, -1);
  std::iota(values.begin(), values.end(), 1000);
  expect_same(b.done(), {1, 1, 1}, {buffer(values), buffer(out)});
}

} // namespace
} // namespace nereid::codegen::testing
