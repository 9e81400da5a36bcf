// Bank conflicts of the LDS against the table that AMD measured on MI355X (gfx950 Gluon tutorials,
// lds_throughput) and the phases that HipKittens and shark-ai found.
#include "sim/timing/lds_banks.h"

#include <gtest/gtest.h>

namespace nereid::sim::timing {
namespace {

/// All lanes, `stride` bytes apart.
MemoryAccess strided(unsigned bytes, unsigned stride, bool store = false, unsigned first = 0) {
  MemoryAccess access;
  access.space = MemoryAccess::Space::Lds;
  access.kind = store ? MemoryAccess::Kind::Store : MemoryAccess::Kind::Load;
  access.bytes = static_cast<uint8_t>(bytes);
  access.lanes = ~uint64_t{0};
  for (unsigned lane = 0; lane < lane_count; ++lane)
    access.address[lane] = first + lane * stride;
  return access;
}

TEST(LdsBanks, LinearAccessesTakeTheirPhases) {
  EXPECT_EQ(lds_clocks(strided(4, 4)), 1u);
  EXPECT_EQ(lds_clocks(strided(8, 8)), 2u);
  EXPECT_EQ(lds_clocks(strided(16, 16)), 4u);
  EXPECT_EQ(lds_clocks(strided(4, 4, true)), 2u);
  EXPECT_EQ(lds_clocks(strided(8, 8, true)), 4u);
  EXPECT_EQ(lds_clocks(strided(16, 16, true)), 8u);
}

TEST(LdsBanks, ConflictsOfReadsOfFourWordsMultiply) {
  EXPECT_EQ(lds_clocks(strided(16, 32)), 8u);  // 2-way
  EXPECT_EQ(lds_clocks(strided(16, 64)), 16u); // 4-way
  EXPECT_EQ(lds_clocks(strided(16, 128)), 32u);
  EXPECT_EQ(lds_clocks(strided(16, 256)), 64u); // all lanes of a phase in the same banks
}

TEST(LdsBanks, TheSameWordIsReadOnceForAllLanes) { EXPECT_EQ(lds_clocks(strided(4, 0)), 1u); }

TEST(LdsBanks, TheWholeWaveIsOnePhaseOfWordReads) {
  EXPECT_EQ(lds_clocks(strided(4, 8)), 2u);
  EXPECT_EQ(lds_clocks(strided(4, 256)), 64u);
}

TEST(LdsBanks, AChunkMovedByTheRowAvoidsConflicts) {
  // Rows of 128 bytes, the 16-byte chunk exchanged with the low bits of the row.
  MemoryAccess access = strided(16, 128);
  for (unsigned lane = 0; lane < lane_count; ++lane)
    access.address[lane] = lane * 128 + (lane % 8) * 16;
  EXPECT_LE(lds_clocks(access), 8u);
}

TEST(LdsBanks, LanesThatAreOffCostNothing) {
  MemoryAccess access = strided(16, 256);
  access.lanes = 1;
  EXPECT_EQ(lds_clocks(access), 4u);
}

} // namespace
} // namespace nereid::sim::timing
