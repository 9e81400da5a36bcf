// Masks "position < bound" of a row, which are where the descriptor ends.
#include <algorithm>

#include <gtest/gtest.h>

#include "tests/codegen/lower_harness.h"

namespace nereid::codegen::testing {
namespace {

using ir::Element;
using ir::Opcode;

/// What the kernel knows of the bound n.
enum class Bound { Any, NotNegative };

/// Copies x[0 .. n) of a tile of `columns`.
ir::Function copy_row(Element element, int64_t columns, int waves, int64_t divisibility, Bound known) {
  KernelBuilder b(waves);
  ir::ValueId x = b.pointer(element), z = b.pointer(element);
  ir::ValueId n = b.scalar_argument(Element::I32, divisibility);
  if (known == Bound::NotNegative) {
    b.assume(b.binary(Opcode::Ge, n, b.number(0)));
    b.assume(b.binary(Opcode::Le, n, b.number(1 << 20)));
  }
  ir::ValueId at = b.arange(0, columns);
  ir::ValueId mask = b.binary(Opcode::Lt, at, n);
  b.store(b.ptr_add(z, at), b.load(b.ptr_add(x, at), mask, {}, ""), mask, "");
  return b.done();
}

/// Memory ends with x[n - 1]: what is beyond is a fault.
void expect_copies(Element element, int64_t columns, int waves, int64_t divisibility, int32_t n) {
  SCOPED_TRACE(::testing::Message() << ir::facts(element).name << " columns " << columns << " waves " << waves
                                    << " n " << n);
  Random random(static_cast<uint64_t>(n) + 5);
  const size_t bytes = static_cast<size_t>(std::max(n, 1)) * ir::byte_size(element);
  for (Bound known : {Bound::Any, Bound::NotNegative})
    if (known == Bound::Any || n >= 0)
      expect_same(copy_row(element, columns, waves, divisibility, known), {1, 1, 1},
                  {buffer(random.bits<uint8_t>(bytes)), buffer(std::vector<uint8_t>(bytes, 0x55)), i32(n)});
}

TEST(LowerEndMask, RowsEndAtTheirBound) {
  for (Element element : {Element::U8, Element::I16, Element::U32, Element::I64})
    for (int32_t n : {-3, 0, 1, 33, 1000, 1023, 1024, 3000})
      expect_copies(element, 1024, 2, 1, n);
  for (int32_t n : {INT32_MIN, -16, 0, 16, 2880, 3072, 4096})
    expect_copies(Element::I16, 3072, 1, 16, n);
}

TEST(LowerEndMask, OneLaneStoresWhatSeveralHold) {
  for (int32_t n : {0, 5, 32, 40})
    expect_copies(Element::U8, 32, 4, 1, n);
}

TEST(LowerEndMask, TakesNoInstructionsOfLanes) {
  for (const std::string &text : {assembly(copy_row(Element::I16, 3072, 1, 16, Bound::NotNegative)),
                                  assembly(copy_row(Element::U32, 1024, 4, 1, Bound::NotNegative))})
    for (const char *instruction : {"v_cmp", "v_cndmask", "s_cbranch"})
      EXPECT_EQ(text.find(instruction), std::string::npos) << instruction << "\n" << text;
}

/// A bound that was limited in vector registers is in scalar ones as the end.
TEST(LowerEndMask, LimitedBoundsAreScalar) {
  for (int32_t n : {-4, 0, 7, 200, 5000}) {
    KernelBuilder b(1);
    ir::ValueId x = b.pointer(Element::U32), z = b.pointer(Element::U32);
    ir::ValueId bound = b.scalar_argument(Element::I32);
    bound = b.binary(Opcode::Max, b.binary(Opcode::Min, bound, b.number(200)), b.number(0));
    ir::ValueId at = b.arange(0, 256);
    b.store_tile(z, b.load(b.ptr_add(x, at), b.binary(Opcode::Lt, at, bound), {}, ""));
    Random random(10);
    expect_same(b.done(), {1, 1, 1},
                {buffer(random.bits<uint32_t>(200)), buffer(std::vector<uint32_t>(256)), i32(n)});
  }
}

/// What is not element by element what the mask counts is masked by lane.
TEST(LowerEndMask, OtherPositionsAreMaskedByLane) {
  for (int kind = 0; kind < 4; ++kind)
    for (int32_t n : {0, 1, 100, 256}) {
      KernelBuilder b(1);
      ir::ValueId x = b.pointer(Element::U32), z = b.pointer(Element::U32);
      ir::ValueId bound = b.scalar_argument(Element::I32);
      b.assume(b.binary(Opcode::Ge, bound, b.number(0)));
      b.assume(b.binary(Opcode::Le, bound, b.number(1000)));
      ir::ValueId at = b.arange(0, 256);
      ir::ValueId mask = b.binary(kind == 3 ? Opcode::Le : Opcode::Lt, at, bound);
      ir::ValueId from = at;
      if (kind == 0)
        from = b.mul(at, b.number(2));
      else if (kind == 1)
        from = b.add(at, b.number(8));
      else if (kind == 2)
        from = b.binary(Opcode::Sub, b.number(255), at);
      b.store_tile(z, b.load(b.ptr_add(x, from), mask, {}, ""));
      Random random(9);
      expect_same(b.done(), {1, 1, 1},
                  {buffer(random.bits<uint32_t>(600)), buffer(std::vector<uint32_t>(256)), i32(n)});
    }
}

} // namespace
} // namespace nereid::codegen::testing
