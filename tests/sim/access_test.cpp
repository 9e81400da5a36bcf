// Loads, stores and atomics of every kind, with their bounds.

#include <cstring>
#include <numeric>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/sim/assembler.h"

namespace nereid::sim::test {
namespace {

/// A buffer of bytes 0, 1, 2, ... and the address arguments that programs here expect.
class Access : public testing::Test {
protected:
  static constexpr unsigned size = 1024;
  Memory memory;
  uint64_t buffer = *memory.allocate(size);
  uint64_t out = *memory.allocate(4096);

  void SetUp() override {
    std::vector<uint8_t> bytes(size);
    std::iota(bytes.begin(), bytes.end(), uint8_t{0});
    ASSERT_TRUE(memory.write(buffer, bytes.data(), size).ok());
    ASSERT_TRUE(memory.fill(out, std::byte{0}, 4096).ok());
  }

  /// s[4:5] = buffer, s[6:7] = out, s[8:11] = raw descriptor of the buffer's first 256 bytes, v1 = 4 * lane.
  Report execute(const std::string &body, const KernelOptions &options = {}) {
    TestRun run("s_load_dwordx4 s[4:7], s[0:1], 0x0\nv_lshlrev_b32 v1, 2, v0\ns_waitcnt lgkmcnt(0)\n"
                "s_mov_b32 s8, s4\ns_mov_b32 s9, s5\ns_movk_i32 s10, 256\ns_mov_b32 s11, 0x00027000\n" +
                    body,
                options);
    run.argument(buffer).argument(out);
    run.launch.block = {64, 1, 1};
    return run(memory);
  }
  /// Runs without fault and returns the words at `out`.
  std::vector<uint32_t> words(const std::string &body, const KernelOptions &options = {}) {
    Report report = execute(body, options);
    EXPECT_FALSE(report.fault) << report.fault->error().text();
    std::vector<uint32_t> result(1024);
    EXPECT_TRUE(memory.read(out, result.data(), 4096).ok());
    return result;
  }
  static uint32_t word_at(unsigned byte) {
    uint32_t word = 0;
    for (unsigned k = 0; k < 4; ++k)
      word |= ((byte + k) & 255) << 8 * k;
    return word;
  }
};

const char *store_v2 = "\ns_waitcnt vmcnt(0) lgkmcnt(0)\nglobal_store_dword v1, v2, s[6:7]\n";

TEST_F(Access, GlobalLoadsOfEverySize) {
  struct Case {
    const char *text;
    uint32_t (*expected)(unsigned lane);
  };
  const Case cases[] = {
      {"global_load_ubyte v2, v1, s[4:5] offset:3", [](unsigned l) { return (4 * l + 3) & 255; }},
      {"global_load_sbyte v2, v1, s[4:5] offset:3",
       [](unsigned l) { return static_cast<uint32_t>(static_cast<int8_t>(4 * l + 3)); }},
      {"global_load_ushort v2, v1, s[4:5]", [](unsigned l) { return word_at(4 * l) & 0xFFFF; }},
      {"global_load_sshort v2, v1, s[4:5] offset:1",
       [](unsigned l) { return static_cast<uint32_t>(static_cast<int16_t>(word_at(4 * l + 1))); }},
      {"global_load_dword v2, v1, s[4:5] offset:-4", [](unsigned l) { return word_at(4 * l - 4); }},
      {"global_load_short_d16_hi v2, v1, s[4:5]", [](unsigned l) { return word_at(4 * l) << 16 | 0x2222; }},
      {"global_load_ubyte_d16 v2, v1, s[4:5]", [](unsigned l) { return 0x22220000 | (4 * l & 255); }},
      {"v_mov_b32 v4, s4\nv_mov_b32 v5, s5\nv_add_co_u32 v4, vcc, v4, v1\nv_addc_co_u32 v5, vcc, 0, v5, vcc\n"
       "global_load_dword v2, v[4:5], off",
       [](unsigned l) { return word_at(4 * l); }},
      {"v_mov_b32 v4, s4\nv_mov_b32 v5, s5\nv_add_co_u32 v4, vcc, v4, v1\nv_addc_co_u32 v5, vcc, 0, v5, vcc\n"
       "flat_load_dword v2, v[4:5]",
       [](unsigned l) { return word_at(4 * l); }},
      {"global_load_dwordx4 v[4:7], v1, s[4:5]\ns_waitcnt vmcnt(0)\nv_mov_b32 v2, v7",
       [](unsigned l) { return word_at(4 * l + 12); }},
      {"global_load_dwordx3 v[4:6], v1, s[4:5]\ns_waitcnt vmcnt(0)\nv_mov_b32 v2, v6",
       [](unsigned l) { return word_at(4 * l + 8); }},
  };
  for (const Case &c : cases) {
    std::string text = c.text;
    bool below = text.find("offset:-4") != std::string::npos;
    auto result = words(std::string("v_mov_b32 v2, 0x22222222\n") + (below ? "s_add_u32 s4, s4, 4\n" : "") +
                        text + store_v2);
    for (unsigned lane = 0; lane < 64; ++lane)
      ASSERT_EQ(result[lane], c.expected(below ? lane + 1 : lane)) << text << " lane " << lane;
  }
}

TEST_F(Access, StoresOfEverySize) {
  words("v_mov_b32 v2, 0x44332211\nv_mov_b32 v3, 0x88776655\nv_lshlrev_b32 v4, 4, v0\n"
        "global_store_byte v4, v2, s[6:7]\nglobal_store_byte_d16_hi v4, v2, s[6:7] offset:1\n"
        "global_store_short v4, v2, s[6:7] offset:2\nglobal_store_short_d16_hi v4, v2, s[6:7] offset:4\n"
        "global_store_dwordx2 v4, v[2:3], s[6:7] offset:8");
  std::vector<uint8_t> bytes(16);
  ASSERT_TRUE(memory.read(out + 16 * 9, bytes.data(), 16).ok());
  EXPECT_EQ(bytes, (std::vector<uint8_t>{0x11, 0x33, 0x11, 0x22, 0x33, 0x44, 0, 0, 0x11, 0x22, 0x33, 0x44,
                                         0x55, 0x66, 0x77, 0x88}));
}

TEST_F(Access, OutOfBoundsIsAFaultWithItsLane) {
  Report load = execute("v_lshlrev_b32 v1, 5, v0\nglobal_load_dword v2, v1, s[4:5] offset:4");
  ASSERT_TRUE(load.fault);
  EXPECT_EQ(load.fault->kind, FaultKind::OutOfBounds);
  EXPECT_EQ(load.fault->lane, 32);
  EXPECT_NE(load.fault->text.find("offset 1028 of the 1024 byte buffer"), std::string::npos)
      << load.fault->text;
  Report store = execute("global_store_dword v1, v0, s[4:5] offset:-4");
  ASSERT_TRUE(store.fault);
  EXPECT_EQ(store.fault->lane, 0);
  // Inactive lanes access nothing.
  EXPECT_FALSE(
      execute("v_lshlrev_b32 v1, 5, v0\ns_mov_b64 exec, 0xffff\nglobal_load_dword v2, v1, s[4:5]").fault);
}

TEST_F(Access, ScalarLoadsFaultPastTheEnd) {
  Report inside = execute("s_load_dwordx2 s[20:21], s[4:5], 0x3f8");
  EXPECT_FALSE(inside.fault);
  Report past = execute("s_load_dwordx2 s[20:21], s[4:5], 0x3fc");
  ASSERT_TRUE(past.fault);
  EXPECT_EQ(past.fault->kind, FaultKind::OutOfBounds);
  EXPECT_EQ(past.fault->lane, -1);
}

TEST_F(Access, BuffersCheckTheRangeOfTheirDescriptor) {
  // num_records is 256: per dword for wide loads, the scalar offset counts, offset and immediate wrap at 32
  // bits.
  auto dword =
      words(std::string("s_movk_i32 s20, 8\nbuffer_load_dword v2, v1, s[8:11], s20 offen") + store_v2);
  for (unsigned lane = 0; lane < 64; ++lane)
    ASSERT_EQ(dword[lane], 4 * lane + 12 <= 256 ? word_at(4 * lane + 8) : 0) << lane;
  auto wide = words(std::string("buffer_load_dwordx4 v[4:7], v1, s[8:11], 0 offen\ns_waitcnt vmcnt(0)\n"
                                "v_mov_b32 v2, v6") +
                    store_v2);
  for (unsigned lane = 0; lane < 64; ++lane)
    ASSERT_EQ(wide[lane], 4 * lane + 12 <= 256 ? word_at(4 * lane + 8) : 0) << lane;
  auto wrapped = words(
      std::string("v_add_u32 v3, -8, v1\nbuffer_load_dword v2, v3, s[8:11], 0 offen offset:8") + store_v2);
  for (unsigned lane = 0; lane < 64; ++lane)
    ASSERT_EQ(wrapped[lane], word_at(4 * lane)) << lane;
  auto masked =
      words(std::string("v_mov_b32 v3, 0x80000000\nbuffer_load_dword v2, v3, s[8:11], 0 offen") + store_v2);
  EXPECT_EQ(masked[0], 0u);
  auto nothing = words(std::string("s_mov_b32 s8, 0\ns_mov_b32 s9, 0\ns_mov_b32 s10, 0\ns_mov_b32 s11, 0\n"
                                   "buffer_load_dword v2, v1, s[8:11], 0 offen") +
                       store_v2);
  EXPECT_EQ(nothing[5], 0u);
}

TEST_F(Access, BufferStoresDropWhatIsOutOfRange) {
  words("s_mov_b32 s8, s6\ns_mov_b32 s9, s7\ns_movk_i32 s10, 24\nv_mov_b32 v4, 1\nv_mov_b32 v5, 2\nv_mov_b32 "
        "v6, 3\n"
        "v_mov_b32 v7, 4\nv_lshlrev_b32 v1, 4, v0\nbuffer_store_dwordx4 v[4:7], v1, s[8:11], 0 offen");
  std::vector<uint32_t> result(8);
  ASSERT_TRUE(memory.read(out, result.data(), 32).ok());
  EXPECT_EQ(result, (std::vector<uint32_t>{1, 2, 3, 4, 1, 2, 0, 0}));
}

TEST_F(Access, StructuredBuffersCountElements) {
  // Stride 8, 4 elements.
  auto result = words(std::string("s_or_b32 s9, s9, 0x00080000\ns_mov_b32 s10, 4\n"
                                  "buffer_load_dword v2, v0, s[8:11], 0 idxen offset:4") +
                      store_v2);
  for (unsigned lane = 0; lane < 64; ++lane)
    ASSERT_EQ(result[lane], lane < 4 ? word_at(8 * lane + 4) : 0) << lane;
}

TEST_F(Access, ArgumentsEndWithTheirBlock) {
  KernelOptions options;
  options.kernarg_size = 36;
  const Report inside = execute("s_load_dwordx4 s[12:15], s[0:1], 0x20\ns_waitcnt lgkmcnt(0)", options);
  EXPECT_FALSE(inside.fault) << inside.fault->error().text();
  for (const char *beyond : {"s_load_dword s12, s[0:1], 0x30", "s_load_dwordx8 s[12:19], s[0:1], 0x20",
                             "v_mov_b32 v2, 0\nglobal_load_dword v3, v2, s[0:1] offset:48"}) {
    const Report report = execute(beyond, options);
    ASSERT_TRUE(report.fault) << beyond;
    EXPECT_EQ(report.fault->kind, FaultKind::OutOfBounds) << beyond;
  }
}

TEST_F(Access, SwizzledBuffersInterleaveElementsByDwords) {
  // Stride 8, 64 elements: of each group the first dwords lie together, then the second ones.
  for (unsigned code = 0; code < 4; ++code) {
    const unsigned group = 8u << code;
    auto result =
        words(fmt::format("s_or_b32 s9, s9, 0x80080000\ns_mov_b32 s10, 64\ns_or_b32 s11, s11, {:#x}\n"
                          "s_movk_i32 s20, 8\nv_and_b32 v3, 31, v0\n"
                          "buffer_load_dword v2, v3, s[8:11], s20 idxen offset:4",
                          code << 21) +
              store_v2);
    for (unsigned lane = 0; lane < 64; ++lane) {
      const unsigned index = lane % 32;
      ASSERT_EQ(result[lane], word_at(8 + index / group * group * 8 + group * 4 + index % group * 4))
          << group << " " << lane;
    }
  }
}

TEST_F(Access, ADescriptorBeyondTheBufferDoesNotHideTheFault) {
  Report report =
      execute("s_movk_i32 s10, 0x7fff\nv_lshlrev_b32 v1, 5, v0\nbuffer_load_dword v2, v1, s[8:11], 0 offen");
  ASSERT_TRUE(report.fault);
  EXPECT_EQ(report.fault->kind, FaultKind::OutOfBounds);
  EXPECT_EQ(report.fault->lane, 32);
  EXPECT_NE(report.fault->text.find("offset 1024 of the 1024 byte buffer"), std::string::npos)
      << report.fault->text;
  EXPECT_EQ(report.fault->instruction, "buffer_load_dword v2, v1, s[8:11], 0 offen");
}

TEST_F(Access, LoadsToLdsUseM0AndTheLane) {
  KernelOptions options;
  options.lds_size = 2048;
  auto result = words("s_movk_i32 m0, 0x40\nv_lshlrev_b32 v3, 4, v0\nv_and_b32 v3, 0xff, v3\n"
                      "buffer_load_dwordx4 v3, s[8:11], 0 offen lds\ns_waitcnt vmcnt(0)\n"
                      "v_lshlrev_b32 v3, 4, v0\nds_read_b32 v2, v3 offset:68\ns_waitcnt lgkmcnt(0)\n"
                      "global_store_dword v1, v2, s[6:7]",
                      options);
  for (unsigned lane = 0; lane < 64; ++lane)
    ASSERT_EQ(result[lane], word_at(16 * (lane % 16) + 4)) << lane;
  // Lanes beyond the descriptor write zeros; inactive lanes write nothing.
  result =
      words("s_mov_b32 m0, 0\nv_mov_b32 v2, -1\nds_write_b32 v1, v2\ns_mov_b64 exec, 0xff\n"
            "v_lshlrev_b32 v3, 6, v0\nglobal_load_lds_dword v3, s[4:5]\ns_mov_b64 exec, -1\n"
            "s_waitcnt vmcnt(0)\nds_read_b32 v2, v1\ns_waitcnt lgkmcnt(0)\nglobal_store_dword v1, v2, s[6:7]",
            options);
  for (unsigned lane = 0; lane < 64; ++lane)
    ASSERT_EQ(result[lane], lane < 8 ? word_at(64 * lane) : 0xFFFFFFFF) << lane;
}

TEST_F(Access, LdsReadsAndWritesOfEverySize) {
  KernelOptions options;
  options.lds_size = 8192;
  std::string write =
      "v_lshlrev_b32 v3, 4, v0\nv_mov_b32 v4, v0\nv_add_u32 v5, 100, v0\nv_add_u32 v6, 200, v0\n"
      "v_add_u32 v7, 300, v0\nds_write_b128 v3, v[4:7] offset:16\ns_waitcnt lgkmcnt(0)\n";
  struct Case {
    const char *text;
    uint32_t (*expected)(unsigned lane);
  };
  const Case cases[] = {
      {"ds_read_b32 v2, v3 offset:20", [](unsigned l) { return 100 + l; }},
      {"ds_read_b64 v[8:9], v3 offset:24\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v2, v9",
       [](unsigned l) { return 300 + l; }},
      {"ds_read_b96 v[8:10], v3 offset:16\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v2, v10",
       [](unsigned l) { return 200 + l; }},
      {"ds_read2_b32 v[8:9], v3 offset0:4 offset1:7\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v2, v9",
       [](unsigned l) { return 300 + l; }},
      {"ds_read2_b64 v[8:11], v3 offset0:2 offset1:3\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v2, v10",
       [](unsigned l) { return 200 + l; }},
      {"ds_read_u8 v2, v3 offset:24", [](unsigned l) { return (200 + l) & 255; }},
      {"ds_read_i8 v2, v3 offset:24",
       [](unsigned l) { return static_cast<uint32_t>(static_cast<int8_t>(200 + l)); }},
      {"ds_read_u16 v2, v3 offset:28", [](unsigned l) { return 300 + l; }},
      {"v_mov_b32 v2, 0x12345678\nds_read_u16_d16_hi v2, v3 offset:28",
       [](unsigned l) { return (300 + l) << 16 | 0x5678; }},
      {"v_mov_b32 v8, 0x77\nds_write_b8 v3, v8 offset:17\ns_waitcnt lgkmcnt(0)\nds_read_b32 v2, v3 offset:16",
       [](unsigned l) { return l | 0x7700; }},
      {"ds_write2st64_b32 v1, v4, v5 offset0:8 offset1:9\ns_waitcnt lgkmcnt(0)\nds_read_b32 v2, v1 "
       "offset:2304",
       [](unsigned l) { return 100 + l; }},
      {"ds_add_rtn_u32 v8, v3, v5 offset:16\ns_waitcnt lgkmcnt(0)\nds_read_b32 v9, v3 offset:16\n"
       "s_waitcnt lgkmcnt(0)\nv_lshl_or_b32 v2, v9, 16, v8",
       [](unsigned l) { return (l + 100 + l) << 16 | l; }},
      {"ds_cmpst_rtn_b32 v8, v3, v4, v5 offset:16\ns_waitcnt lgkmcnt(0)\nds_read_b32 v2, v3 offset:16",
       [](unsigned l) { return 100 + l; }},
  };
  for (const Case &c : cases) {
    auto result = words(write + c.text + store_v2, options);
    for (unsigned lane = 0; lane < 64; ++lane)
      ASSERT_EQ(result[lane], c.expected(lane)) << c.text << " lane " << lane;
  }
}

TEST_F(Access, LdsOutsideTheWorkgroupIsAFault) {
  KernelOptions options;
  options.lds_size = 128;
  Report report = execute("ds_read_b32 v2, v1", options);
  ASSERT_TRUE(report.fault);
  EXPECT_EQ(report.fault->kind, FaultKind::OutOfBounds);
  EXPECT_EQ(report.fault->lane, 32);
}

TEST_F(Access, LdsAddressesWrapAround) {
  KernelOptions options;
  options.lds_size = 512;
  // Negative registers and a positive offset: lane l is at 252 - 4 l.
  const auto reversed = words("v_sub_u32 v3, 0, v1\nds_write_b32 v3, v0 offset:252\ns_waitcnt lgkmcnt(0)\n"
                              "ds_read_b32 v2, v1\n" +
                                  std::string(store_v2),
                              options);
  const auto pairs = words("v_sub_u32 v3, 0, v1\nds_write2_b32 v3, v0, v1 offset0:63 offset1:127\n"
                           "s_waitcnt lgkmcnt(0)\nds_read_b32 v2, v1 offset:256\n" +
                               std::string(store_v2),
                           options);
  for (unsigned lane = 0; lane < 64; ++lane) {
    EXPECT_EQ(reversed[lane], 63 - lane);
    EXPECT_EQ(pairs[lane], 4 * (63 - lane));
  }
}

TEST_F(Access, TransposingReadsGatherColumns) {
  KernelOptions options;
  options.lds_size = 1024;
  // Each lane writes 8 bytes: byte k is 8 * lane + k modulo 256.
  std::string write = "v_lshlrev_b32 v3, 3, v0\nglobal_load_dwordx2 v[4:5], v3, s[4:5]\ns_waitcnt vmcnt(0)\n"
                      "ds_write_b64 v3, v[4:5]\ns_waitcnt lgkmcnt(0)\n";
  auto result = words(
      write + "ds_read_b64_tr_b8 v[8:9], v3\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v2, v8" + store_v2, options);
  for (unsigned lane = 0; lane < 64; ++lane)
    for (unsigned n = 0; n < 4; ++n) { // element n of lane t is byte 16 n + t of the group's 128
      unsigned byte = lane / 16 * 128 + 16 * n + lane % 16;
      ASSERT_EQ(result[lane] >> 8 * n & 255, byte & 255) << lane;
    }
  result = words(write + "ds_read_b64_tr_b16 v[8:9], v3\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v2, v9" + store_v2,
                 options);
  for (unsigned lane = 0; lane < 64; ++lane) {
    unsigned byte = lane / 16 * 128 + 2 * (16 * 2 + lane % 16);
    ASSERT_EQ(result[lane] & 0xFFFF, word_at(byte) & 0xFFFF) << lane;
  }
}

TEST_F(Access, AtomicsReturnTheOldValue) {
  auto result =
      words("v_mov_b32 v3, 0\nv_mov_b32 v4, 3\nglobal_atomic_add v2, v3, v4, s[6:7] offset:1024 sc0" +
            std::string(store_v2));
  for (unsigned lane = 0; lane < 64; ++lane)
    EXPECT_EQ(result[lane], 3 * lane);
  EXPECT_EQ(result[256], 192u);
  result = words(
      "v_mov_b32 v3, 0\nglobal_atomic_umax v3, v0, s[6:7] offset:1028\nv_mov_b32 v4, v0\nv_mov_b32 v5, 5\n"
      "v_mov_b32 v4, 77\nv_mov_b32 v6, 1.5\nglobal_atomic_add_f32 v3, v6, s[6:7] offset:1032\n"
      "global_atomic_cmpswap v3, v[4:5], s[6:7] offset:1036");
  EXPECT_EQ(result[257], 63u);
  EXPECT_EQ(result[258], 0x42C00000u); // 96.0
  EXPECT_EQ(result[259], 0u);          // 5 was never there
  Report misaligned = execute("v_mov_b32 v3, 2\nv_mov_b32 v4, 3\nglobal_atomic_add v3, v4, s[6:7]");
  ASSERT_TRUE(misaligned.fault);
  EXPECT_EQ(misaligned.fault->kind, FaultKind::Misaligned);
}

TEST_F(Access, ScratchIsPrivateToTheLane) {
  KernelOptions options;
  options.scratch_size = 64;
  auto result = words("scratch_store_dword off, v0, off offset:8\ns_movk_i32 s20, 4\nv_mov_b32 v3, 4\n"
                      "scratch_load_dword v2, v3, off offset:4" +
                          std::string(store_v2),
                      options);
  for (unsigned lane = 0; lane < 64; ++lane)
    EXPECT_EQ(result[lane], lane);
  Report past = execute("scratch_store_dword off, v0, off offset:64", options);
  ASSERT_TRUE(past.fault);
  EXPECT_EQ(past.fault->kind, FaultKind::OutOfBounds);
}

} // namespace
} // namespace nereid::sim::test
