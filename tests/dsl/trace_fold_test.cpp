#include <limits>
#include <optional>

#include <gtest/gtest.h>

#include "dsl/elements.h"
#include "dsl/ir/fold.h"

namespace nereid::test {
namespace {

using ir::Element;
using ir::Opcode;

/// The folded result as a number of the element.
template <class T> std::optional<int64_t> folded(Opcode opcode, T a, T b) {
  Element element = element_of<T>;
  auto bits = [&](T value) { return ir::integer_bits(element, static_cast<int64_t>(value)); };
  std::optional<uint64_t> result = ir::fold_integers(opcode, element, bits(a), bits(b));
  if (!result)
    return std::nullopt;
  return ir::integer_value(element, *result);
}

TEST(TraceFold, ArithmeticWraps) {
  EXPECT_EQ(folded<i8>(Opcode::Add, 127, 1), -128);
  EXPECT_EQ(folded<u8>(Opcode::Sub, 0, 1), 255);
  EXPECT_EQ(folded<i32>(Opcode::Mul, 1 << 20, 1 << 12), 0);
  EXPECT_EQ(folded<i64>(Opcode::Add, INT64_MAX, 1), INT64_MIN);
}

TEST(TraceFold, DivisionTruncates) {
  EXPECT_EQ(folded<i32>(Opcode::Div, -7, 2), -3);
  EXPECT_EQ(folded<i32>(Opcode::Rem, -7, 2), -1);
  EXPECT_EQ(folded<i32>(Opcode::Rem, 7, -2), 1);
  EXPECT_EQ(folded<i32>(Opcode::Div, INT32_MIN, -1), INT32_MIN);
  EXPECT_EQ(folded<i64>(Opcode::Div, INT64_MIN, -1), INT64_MIN);
  EXPECT_EQ(folded<i64>(Opcode::Rem, INT64_MIN, -1), 0);
  EXPECT_EQ(folded<u64>(Opcode::Div, std::numeric_limits<u64>::max(), 2), INT64_MAX);
  EXPECT_EQ(folded<i32>(Opcode::Div, 1, 0), std::nullopt);
  EXPECT_EQ(folded<u64>(Opcode::Rem, 1, 0), std::nullopt);
}

TEST(TraceFold, ShiftsByTheWidthOrMore) {
  EXPECT_EQ(folded<i32>(Opcode::Shl, 1, 31), INT32_MIN);
  EXPECT_EQ(folded<i32>(Opcode::Shl, 1, 32), 0);
  EXPECT_EQ(folded<i32>(Opcode::Shl, 1, -1), 0);
  EXPECT_EQ(folded<i32>(Opcode::Shr, -8, 1), -4);
  EXPECT_EQ(folded<i32>(Opcode::Shr, -8, 40), -1);
  EXPECT_EQ(folded<u32>(Opcode::Shr, 0x80000000, 31), 1);
  EXPECT_EQ(folded<u32>(Opcode::Shr, 0x80000000, 32), 0);
  EXPECT_EQ(folded<u8>(Opcode::Shl, 0xff, 4), 0xf0);
}

TEST(TraceFold, Order) {
  EXPECT_EQ(folded<i8>(Opcode::Max, -1, 1), 1);
  EXPECT_EQ(folded<u8>(Opcode::Max, 255, 1), 255);
  EXPECT_EQ(folded<i64>(Opcode::Min, -1, 1), -1);
  uint64_t minus_one = ~uint64_t{0};
  EXPECT_EQ(ir::fold_integers(Opcode::Lt, Element::I64, minus_one, 1), 1u);
  EXPECT_EQ(ir::fold_integers(Opcode::Lt, Element::U64, minus_one, 1), 0u);
  EXPECT_EQ(ir::fold_integers(Opcode::Ge, Element::U64, minus_one, minus_one), 1u);
  EXPECT_EQ(ir::fold_integers(Opcode::Le, Element::I32, 3, 3), 1u);
  EXPECT_EQ(ir::fold_integers(Opcode::Gt, Element::I32, 3, 3), 0u);
}

TEST(TraceFold, FloatsAreNotFolded) {
  EXPECT_EQ(ir::fold_integers(Opcode::Add, Element::F32, 0, 0), std::nullopt);
  EXPECT_FALSE(ir::is_identity(Opcode::Add, Element::F32, 0, false));
}

TEST(TraceFold, Identities) {
  EXPECT_TRUE(ir::is_identity(Opcode::Sub, Element::I32, 0, false));
  EXPECT_FALSE(ir::is_identity(Opcode::Sub, Element::I32, 0, true));
  EXPECT_FALSE(ir::is_identity(Opcode::Div, Element::I32, 1, true));
  EXPECT_TRUE(ir::is_identity(Opcode::And, Element::I1, 1, true));
  EXPECT_FALSE(ir::is_identity(Opcode::And, Element::I32, 1, true));
}

} // namespace
} // namespace nereid::test
