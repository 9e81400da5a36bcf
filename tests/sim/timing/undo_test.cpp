// Launches that are only timed: memory stays as it was, and the next one finds what the one before found.
#include <gtest/gtest.h>

#include "tests/sim/assembler.h"

namespace nereid::sim::test {
namespace {

constexpr size_t buffer_bytes = 4096;

/// A launch of 600 workgroups of one wave that is only timed, on a buffer where no two neighbouring bytes are
/// equal. v1 is 16 times the lane, v[4:7] hold ones.
struct TimedStores {
  TestRun run;
  Memory memory;
  uint64_t buffer = *memory.allocate(buffer_bytes);
  std::vector<uint8_t> before = std::vector<uint8_t>(buffer_bytes);

  explicit TimedStores(const std::string &body)
      : run(std::string(load_buffer) +
            "v_lshlrev_b32 v1, 4, v0\nv_mov_b32 v4, 1\nv_mov_b32 v5, 1\nv_mov_b32 v6, 1\nv_mov_b32 v7, 1\n" +
            body + "\ns_endpgm\n") {
    for (size_t i = 0; i < buffer_bytes; ++i)
      before[i] = static_cast<uint8_t>(7 * i + i / 256);
    EXPECT_TRUE(memory.write(buffer, before.data(), buffer_bytes).ok());
    run.argument(buffer);
    run.launch.grid = {600, 1, 1};
    run.launch.block = {64, 1, 1};
    run.launch.timing = Timing::Only;
  }
  std::vector<uint8_t> content() const {
    std::vector<uint8_t> bytes(buffer_bytes);
    EXPECT_TRUE(memory.read(buffer, bytes.data(), buffer_bytes).ok());
    return bytes;
  }
};

TEST(TimedOnly, LeavesMemoryAsItWas) {
  const char *const bodies[] = {
      "global_store_dword v1, v4, s[4:5]", "global_store_byte v1, v4, s[4:5] offset:3",
      "global_store_dwordx4 v1, v[4:7], s[4:5]",
      // Over the end of what is kept together, then once more over a part of it.
      "v_min_u32 v1, 0xfe0, v1\nglobal_store_dwordx4 v1, v[4:7], s[4:5] offset:12\n"
      "global_store_dwordx2 v1, v[4:5], s[4:5] offset:8",
      // The descriptor's range check drops the last two words of lane 63.
      "buffer_store_dwordx4 v[4:7], v1, s[8:11], 0 offen offset:8", "global_atomic_add v1, v4, s[4:5]",
      "global_atomic_add_x2 v[8:9], v1, v[4:5], s[4:5] sc0",
      "s_mov_b32 s13, 100000\n1:\nglobal_store_dword v1, v4, s[4:5]\nv_add_u32 v4, 1, v4\n"
      "s_sub_u32 s13, s13, 1\ns_cmp_lg_u32 s13, 0\ns_cbranch_scc1 1b"};
  for (const char *body : bodies) {
    TimedStores timed(body);
    const Report report = timed.run(timed.memory);
    EXPECT_TRUE(report.time) << body << (report.fault ? report.fault->text : "");
    EXPECT_EQ(timed.content(), timed.before) << body;
  }
}

TEST(TimedOnly, LeavesMemoryAsItWasWhereItFaults) {
  TimedStores timed("global_store_dword v1, v4, s[4:5]\nv_mov_b32 v2, 0\nglobal_load_dword v3, v2, s[20:21]");
  EXPECT_TRUE(timed.run(timed.memory).fault);
  EXPECT_EQ(timed.content(), timed.before);
}

TEST(TimedOnly, DefinesNothing) {
  TimedStores timed("global_store_dword v1, v4, s[4:5]");
  Memory memory;
  const uint64_t unwritten = *memory.allocate(buffer_bytes);
  timed.run.launch.kernarg.clear();
  timed.run.argument(unwritten);
  EXPECT_TRUE(timed.run(memory).time);
  TestRun reads(std::string(load_buffer) + "v_lshlrev_b32 v1, 2, v0\nglobal_load_dword v2, v1, s[4:5]\n"
                                           "s_waitcnt vmcnt(0)\nv_add_u32 v2, 1, v2\n"
                                           "global_store_dword v1, v2, s[4:5]\ns_endpgm\n");
  reads.argument(unwritten);
  reads.launch.block = {64, 1, 1};
  reads.launch.checks.undefined = true;
  expect_fault(reads(memory), FaultKind::Undefined, "global_store_dword v1, v2, s[4:5]", "");
}

/// The last of 100 workgroups to arrive, each after so many steps, takes 20000 steps more than the others.
std::string last_of_100(unsigned steps) {
  return "s_mov_b32 s13, " + std::to_string(steps) +
         "\n1:\ns_sub_u32 s13, s13, 1\ns_cmp_lg_u32 s13, 0\ns_cbranch_scc1 1b\n"
         "s_mov_b64 exec, 1\nv_mov_b32 v1, 0\nglobal_atomic_add v3, v1, v4, s[4:5] sc0\n"
         "s_waitcnt vmcnt(0)\nv_readfirstlane_b32 s12, v3\ns_cmp_lg_u32 s12, 99\ns_cbranch_scc1 2f\n"
         "s_mov_b32 s13, 20000\n1:\ns_sub_u32 s13, s13, 1\ns_cmp_lg_u32 s13, 0\ns_cbranch_scc1 1b\n2:";
}

TEST(TimedOnly, TheLastToArriveIsFoundAndTheSameEachTime) {
  // The longer ones are not all executed to their ends for their lines alone.
  for (const unsigned steps : {1U, 7000U}) {
    TimedStores timed(last_of_100(steps));
    timed.run.launch.grid = {100, 1, 1};
    const uint32_t none = 0;
    ASSERT_TRUE(timed.memory.write(timed.buffer, &none, sizeof none).ok());
    const Report first = timed.run(timed.memory), second = timed.run(timed.memory);
    ASSERT_TRUE(first.time && second.time);
    EXPECT_GT(first.time->cycles_per_workgroup, 20'000 + steps) << steps;
    EXPECT_EQ(first.time->us, second.time->us) << steps;
    EXPECT_EQ(first.counts.total, second.counts.total) << steps;
  }
}

} // namespace
} // namespace nereid::sim::test
