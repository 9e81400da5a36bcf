// What memory instructions show to a checker, which alignments they ask for, and what their faults say.

#include <gtest/gtest.h>

#include "sim/run/workgroup.h"
#include "tests/sim/assembler.h"

namespace nereid::sim::test {
namespace {

using Space = MemoryAccess::Space;
using Kind = MemoryAccess::Kind;

/// Keeps the accesses of a run.
struct Recorder : Checker {
  std::vector<MemoryAccess> accesses;
  void access(Wave &, const Instruction &, const MemoryAccess &access) override {
    accesses.push_back(access);
  }
  std::unique_ptr<Checker> fork(LaunchState &) const override { return std::make_unique<Recorder>(*this); }
};

class Shown : public testing::Test {
protected:
  Memory memory;
  uint64_t buffer = *memory.allocate(4096);
  KernelOptions options;

  Shown() {
    options.lds_size = 2048;
    options.scratch_size = 64;
    EXPECT_TRUE(memory.fill(buffer, std::byte{0}, 4096).ok());
  }

  /// Runs with s[4:5] = the buffer, s[8:11] a descriptor of its first 256 bytes, v1 = 4 * lane, v2 = 16 *
  /// lane, m0 = 0, and returns the accesses after the first, which loads the argument.
  std::vector<MemoryAccess> accesses(const std::string &body) {
    TestRun run = prepared(body);
    auto state = LaunchState::prepare(run.code, memory, run.launch);
    EXPECT_TRUE(state);
    Recorder recorder;
    WorkgroupRunner runner(**state, &recorder);
    const auto fault = runner.run(0);
    EXPECT_FALSE(fault) << body << ": " << fault->text;
    EXPECT_FALSE(recorder.accesses.empty());
    if (!recorder.accesses.empty()) {
      EXPECT_EQ(recorder.accesses[0].lanes, 1u);
      EXPECT_EQ(recorder.accesses[0].bytes, 8);
      recorder.accesses.erase(recorder.accesses.begin());
    }
    return recorder.accesses;
  }
  TestRun prepared(const std::string &body) {
    TestRun run("s_load_dwordx2 s[4:5], s[0:1], 0x0\nv_lshlrev_b32 v1, 2, v0\nv_lshlrev_b32 v2, 4, v0\n"
                "s_mov_b32 m0, 0\ns_waitcnt lgkmcnt(0)\ns_mov_b32 s8, s4\ns_mov_b32 s9, s5\n"
                "s_movk_i32 s10, 256\ns_mov_b32 s11, 0x00027000\n" +
                    body,
                options);
    run.argument(buffer);
    run.launch.block = {64, 1, 1};
    return run;
  }
  /// The fault that a body ends with.
  Fault fault(const std::string &body) {
    TestRun run = prepared(body);
    Report report = run(memory);
    EXPECT_TRUE(report.fault) << body;
    return report.fault.value_or(Fault());
  }
};

TEST_F(Shown, EachPlaceOnce) {
  struct Case {
    const char *text;
    std::vector<std::tuple<Space, Kind, unsigned, bool>> expected; ///< space, kind, bytes, to_lds
  };
  const Case cases[] = {
      {"global_load_dwordx4 v[4:7], v2, s[4:5]", {{Space::Global, Kind::Load, 16, false}}},
      {"global_store_short v1, v2, s[4:5]", {{Space::Global, Kind::Store, 2, false}}},
      {"global_atomic_add v3, v1, v2, s[4:5] sc0", {{Space::Global, Kind::Atomic, 4, false}}},
      {"global_load_lds_dwordx4 v2, s[4:5]",
       {{Space::Global, Kind::Load, 16, true}, {Space::Lds, Kind::Store, 16, true}}},
      {"buffer_load_dword v1, s[8:11], 0 offen lds",
       {{Space::Global, Kind::Load, 4, true}, {Space::Lds, Kind::Store, 4, true}}},
      {"buffer_load_ubyte v3, v1, s[8:11], 0 offen", {{Space::Global, Kind::Load, 1, false}}},
      {"scratch_store_dwordx2 off, v[2:3], off offset:8", {{Space::Scratch, Kind::Store, 8, false}}},
      {"ds_read2_b64 v[4:7], v1 offset1:2",
       {{Space::Lds, Kind::Load, 8, false}, {Space::Lds, Kind::Load, 8, false}}},
      {"ds_write2st64_b32 v1, v2, v3 offset1:1",
       {{Space::Lds, Kind::Store, 4, false}, {Space::Lds, Kind::Store, 4, false}}},
      {"ds_add_u32 v1, v2", {{Space::Lds, Kind::Atomic, 4, false}}},
      {"ds_bpermute_b32 v3, v1, v2", {}},
      {"ds_swizzle_b32 v3, v1 offset:0x8000", {}},
      {"s_load_dwordx8 s[16:23], s[4:5], 0x20", {{Space::Global, Kind::Load, 32, false}}},
      {"s_mov_b64 s[20:21], src_shared_base\nv_mov_b32 v5, s21\nv_mov_b32 v4, v1\nflat_load_dword v3, v[4:5]",
       {{Space::Lds, Kind::Load, 4, false}}},
  };
  for (const Case &c : cases) {
    std::string text = c.text;
    if (text.starts_with("ds_read2_b64"))
      text = "v_lshlrev_b32 v1, 3, v0\n" + text;
    const auto found = accesses(text);
    ASSERT_EQ(found.size(), c.expected.size()) << text;
    for (size_t k = 0; k < found.size(); ++k) {
      EXPECT_EQ(std::tuple(found[k].space, found[k].kind, unsigned{found[k].bytes}, found[k].to_lds),
                c.expected[k])
          << text << " access " << k;
    }
  }
}

TEST_F(Shown, LanesAndAddresses) {
  auto store = accesses("s_mov_b64 exec, 0xf0\nglobal_store_dword v1, v2, s[4:5] offset:8");
  ASSERT_EQ(store.size(), 1u);
  EXPECT_EQ(store[0].lanes, 0xF0u);
  EXPECT_EQ(store[0].address[5], buffer + 8 + 20);
  auto two = accesses("ds_write2st64_b32 v1, v2, v3 offset0:1 offset1:3");
  ASSERT_EQ(two.size(), 2u);
  EXPECT_EQ(two[0].address[7], 256u + 28);
  EXPECT_EQ(two[1].address[7], 3 * 256u + 28);
  auto to_lds = accesses("s_mov_b32 m0, 512\nglobal_load_lds_dwordx3 v2, s[4:5] offset:16");
  ASSERT_EQ(to_lds.size(), 2u);
  EXPECT_EQ(to_lds[0].address[9], buffer + 16 + 16 * 9);
  EXPECT_EQ(to_lds[1].address[9], 512u + 16 + 16 * 9);
  // 256 bytes in range: 16 bytes at 8 + 16 * lane end inside for lanes up to 14, lane 15 keeps two dwords.
  auto cut = accesses("buffer_load_dwordx4 v[4:7], v2, s[8:11], 0 offen offset:8");
  ASSERT_EQ(cut.size(), 1u);
  EXPECT_EQ(cut[0].lanes, 0xFFFFu);
  EXPECT_TRUE(cut[0].partial);
  EXPECT_EQ(cut[0].dwords[14], 15);
  EXPECT_EQ(cut[0].dwords[15], 3);
}

TEST_F(Shown, FlatLanesBySpace) {
  auto found = accesses("s_mov_b64 s[20:21], src_shared_base\ns_mov_b64 s[22:23], src_private_base\n"
                        "v_mov_b32 v4, s4\nv_mov_b32 v5, s5\n"
                        "s_mov_b64 exec, 0xff\nv_mov_b32 v4, v1\nv_mov_b32 v5, s21\n"
                        "s_mov_b64 exec, 3\nv_mov_b32 v4, 0\nv_mov_b32 v5, s23\ns_mov_b64 exec, -1\n"
                        "flat_store_dword v[4:5], v2");
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].space, Space::Global);
  EXPECT_EQ(found[0].lanes, ~uint64_t{0xFF});
  EXPECT_EQ(found[1].space, Space::Lds);
  EXPECT_EQ(found[1].lanes, 0xFCu);
  EXPECT_EQ(found[1].address[3], 12u);
  EXPECT_EQ(found[2].space, Space::Scratch);
  EXPECT_EQ(found[2].lanes, 3u);
}

TEST_F(Shown, AlignmentThatTheHardwareAsksFor) {
  const char *allowed[] = {
      "global_load_dwordx4 v[4:7], v2, s[4:5] offset:1",
      "ds_read_b128 v[4:7], v2 offset:3",
      "ds_write_b64 v2, v[4:5] offset:1",
      "scratch_load_dword v3, off, off offset:2",
      "buffer_load_ushort v3, v1, s[8:11], 0 offen offset:1",
  };
  for (const char *text : allowed)
    accesses(text);
  const char *refused[] = {
      "global_atomic_add v1, v2, s[4:5] offset:2",
      "global_atomic_add_x2 v1, v[2:3], s[4:5]",
      "ds_add_u32 v1, v2 offset:2",
      "ds_read2_b64 v[4:7], v1 offset1:1",
      "v_add_u32 v1, 2, v1\nds_write2_b32 v1, v2, v3 offset1:1",
      "ds_read_b64_tr_b8 v[4:5], v1",
      "buffer_load_dword v3, v1, s[8:11], 0 offen offset:2",
      "s_mov_b32 m0, 2\nglobal_load_lds_dword v1, s[4:5]",
      "s_or_b32 s4, s4, 2\ns_load_dword s16, s[4:5], 0x0",
  };
  for (const char *text : refused) {
    const Fault found = fault(text);
    EXPECT_EQ(found.kind, FaultKind::Misaligned) << text << ": " << found.text;
    EXPECT_NE(found.text.find("no multiple of"), std::string::npos) << found.text;
  }
}

TEST_F(Shown, NothingMovesWhenOneLaneIsOutside) {
  const Fault found = fault("v_mov_b32 v3, -1\nv_lshlrev_b32 v1, 7, v0\nglobal_store_dword v1, v3, s[4:5]");
  EXPECT_EQ(found.kind, FaultKind::OutOfBounds);
  EXPECT_EQ(found.lane, 32);
  uint32_t word = 1;
  ASSERT_TRUE(memory.read(buffer, &word, 4).ok());
  EXPECT_EQ(word, 0u);
}

TEST_F(Shown, TheTextSaysHowFarOutside) {
  struct Case {
    const char *text;
    const char *says;
  };
  const Case cases[] = {
      {"s_add_u32 s4, s4, 4096\nglobal_load_dword v3, v1, s[4:5] offset:8",
       "offset 4104 of the 4096 byte buffer"},
      {"s_add_u32 s4, s4, 4096\nglobal_load_dword v3, v1, s[4:5] offset:8", "is 8 bytes beyond the end"},
      {"global_load_dword v3, v1, s[4:5] offset:4094", "reaches 2 bytes beyond the end"},
      {"global_load_dword v3, v1, s[4:5] offset:-20", "starts 20 bytes before the 4096 byte buffer"},
      {"ds_read_b64 v[4:5], v1 offset:2044", "4 beyond the end"},
      {"scratch_load_dwordx2 v[4:5], off, off offset:60", "4 beyond the end"},
      {"v_mov_b32 v4, 0\nv_mov_b32 v5, 0\nglobal_load_dword v3, v[4:5], off", "outside every allocation"},
  };
  for (const Case &c : cases) {
    const Fault found = fault(c.text);
    EXPECT_EQ(found.kind, FaultKind::OutOfBounds) << c.text;
    EXPECT_NE(found.text.find(c.says), std::string::npos) << c.text << ": " << found.text;
  }
}

} // namespace
} // namespace nereid::sim::test
