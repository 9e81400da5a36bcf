#include <gtest/gtest.h>

#include "tests/codegen/layout_samples.h"

namespace nereid::codegen {
namespace {

using samples::RandomLayouts;

BitMatrix random_matrix(RandomLayouts &random, unsigned rows, unsigned columns) {
  std::vector<uint64_t> all(columns);
  for (uint64_t &column : all)
    column = random.below(1u << rows);
  return BitMatrix(rows, all);
}

TEST(BitMatrix, ProductIsApplicationOneAfterTheOther) {
  RandomLayouts random(1);
  for (int trial = 0; trial < 50; ++trial) {
    BitMatrix a = random_matrix(random, 7, 5), b = random_matrix(random, 5, 9);
    for (uint64_t x = 0; x < 512; ++x)
      ASSERT_EQ((a * b).apply(x), a.apply(b.apply(x)));
    EXPECT_EQ((a * b).transpose(), b.transpose() * a.transpose());
  }
}

TEST(BitMatrix, InverseUndoesOnBothSides) {
  RandomLayouts random(2);
  for (unsigned size : {1u, 2u, 5u, 8u, 17u}) {
    BitMatrix m = random.invertible(size);
    EXPECT_EQ(*m.inverse() * m, BitMatrix::identity(size));
    EXPECT_EQ(m * *m.inverse(), BitMatrix::identity(size));
  }
}

TEST(BitMatrix, SingularHasNoInverse) {
  EXPECT_FALSE(BitMatrix(2, {1, 1}).inverse());
  EXPECT_FALSE(BitMatrix(2, {1, 2, 3}).inverse());
  EXPECT_FALSE(BitMatrix(3, {1, 2, 3}).right_inverse());
}

TEST(BitMatrix, RightInverseOfAWideMatrixUsesEarlyColumns) {
  BitMatrix m(2, {0, 1, 1, 3, 2});
  BitMatrix r = *m.right_inverse();
  EXPECT_EQ(m * r, BitMatrix::identity(2));
  EXPECT_EQ(r.columns(), (std::vector<uint64_t>{0b00010, 0b01010}));
}

TEST(BitMatrix, RankOfTransposeAndKernelAgree) {
  RandomLayouts random(3);
  for (int trial = 0; trial < 100; ++trial) {
    BitMatrix m = random_matrix(random, 1 + random.below(8), 1 + random.below(8));
    EXPECT_EQ(m.rank(), m.transpose().rank());
    std::vector<uint64_t> kernel = m.kernel();
    EXPECT_EQ(kernel.size() + m.rank(), m.size());
    for (uint64_t x : kernel)
      EXPECT_EQ(m.apply(x), 0u);
    EXPECT_EQ(BitMatrix(m.size(), kernel).rank(), kernel.size());
    EXPECT_EQ(std::popcount(m.dependent_columns()), static_cast<int>(kernel.size()));
  }
}

TEST(BitMatrix, SolveFindsExactlyTheImage) {
  RandomLayouts random(4);
  for (int trial = 0; trial < 50; ++trial) {
    BitMatrix m = random_matrix(random, 6, 5);
    std::vector<bool> image(64);
    for (uint64_t x = 0; x < 32; ++x)
      image[m.apply(x)] = true;
    for (uint64_t y = 0; y < 64; ++y) {
      std::optional<uint64_t> x = m.solve(y);
      ASSERT_EQ(x.has_value(), image[y]);
      if (x) {
        ASSERT_EQ(m.apply(*x), y);
        ASSERT_EQ(*x & m.dependent_columns(), 0u);
      }
    }
  }
}

} // namespace
} // namespace nereid::codegen
