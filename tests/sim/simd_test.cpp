// The host's vector instructions that lanes are computed with do not change a bit.

#include <random>

#include <gtest/gtest.h>

#include "sim/state/simd.h"
#include "tests/sim/assembler.h"

namespace nereid::sim::test {
namespace {

class EachSimd : public testing::Test {
protected:
  void TearDown() override { use_simd(default_simd()); }

  /// Random words with special float values among them, in eight registers.
  static std::vector<uint32_t> inputs() {
    std::mt19937 random(7);
    std::vector<uint32_t> words(8 * 64);
    for (uint32_t &word : words)
      word = random() % 8 ? random() : (random() & 0x80000000) | (random() % 2 ? 0x7F800000 : 0x00400000);
    return words;
  }

  /// With `any_nan` results are floats of which one NaN is as good as another.
  static void expect_same(const std::string &body, const std::vector<uint32_t> &words, bool any_nan = false) {
    const auto run_on = [&](Simd simd) {
      use_simd(simd);
      std::vector<uint32_t> results = run_lanes(body, words, 8, 4);
      for (uint32_t &word : results)
        if (any_nan && (word & 0x7FFFFFFF) > 0x7F800000)
          word = 0x7FC00000;
      return results;
    };
    const std::vector<uint32_t> portable = run_on(Simd::Portable);
    for (const Simd simd : {Simd::Avx2, Simd::Avx512})
      EXPECT_EQ(portable, run_on(simd)) << body;
  }
};

TEST_F(EachSimd, LanesAreTheSame) {
  const char *bodies[] = {
      "v_fma_f32 v8, v0, v1, v2\nv_mul_f32 v9, v3, v4\nv_max_f32 v10, v5, v6\nv_rcp_f32 v11, v0",
      "v_pk_max_u16 v8, v0, v1\nv_pk_mad_i16 v9, v2, v3, v4\nv_pk_min_i16 v10, v0, v1\nv_mov_b32 v11, 0",
      "v_add_u32 v8, v0, v1\nv_mul_lo_u32 v9, v2, v3\nv_perm_b32 v10, v0, v1, v2\nv_bfe_i32 v11, v4, 3, 9",
      "v_fma_f64 v[8:9], v[0:1], v[2:3], v[4:5]\nv_lshl_add_u64 v[10:11], v[0:1], 3, v[2:3]",
      "v_cvt_f16_f32 v8, v0\nv_cvt_f32_f16 v9, v1\nv_cvt_i32_f32 v10, v2\nv_cvt_f32_u32 v11, v3",
      "v_mov_b32 v8, v0\nv_mov_b32 v9, v1\nv_mov_b32 v10, 0x43800000\nv_mov_b32 v11, 0\n"
      "v_cvt_scalef32_pk_fp4_f32 v8, v2, v3, v10\nv_cvt_scalef32_pk_fp4_bf16 v9, v4, v10 op_sel:[0,0,1,0]",
      // A result register that is also an operand, with and without all lanes.
      "v_mov_b32 v8, v0\nv_mov_b32 v9, v1\nv_lshl_add_u64 v[8:9], v[8:9], 1, v[8:9]\nv_mov_b32 v10, v3\n"
      "s_mov_b32 exec_lo, 0x0ff0f00f\nv_mul_f32 v10, v10, v4\nv_add_co_u32 v11, vcc, v5, v6\ns_mov_b64 exec, "
      "-1",
      "v_cmp_lt_f32 vcc, v0, v1\nv_cndmask_b32 v8, v2, v3, vcc\nv_add_co_u32 v9, vcc, v4, v5\n"
      "v_addc_co_u32 v10, vcc, v6, v7, vcc\nv_mov_b32 v11, 0",
  };
  for (const char *body : bodies)
    expect_same(body, inputs());
}

TEST_F(EachSimd, HalvesAreTheSame) {
  // Finite ones: which of two NaNs goes on is open.
  std::vector<uint32_t> finite = inputs();
  for (uint32_t &word : finite)
    word &= 0xFBFFFBFF;
  expect_same("v_pk_add_f16 v8, v0, v1\nv_pk_fma_f16 v9, v2, v3, v4\nv_pk_mul_f16 v10, v5, v6\n"
              "v_fma_f16 v11, v0, v1, v2",
              finite);
}

TEST_F(EachSimd, ScaledProductsAreTheSame) {
  // Scales near 1, and scales whose products leave the ordinary range.
  for (const char *scales :
       {"v_and_b32 v20, 0x03030303, v6\nv_add_u32 v20, 0x7d7d7d7d, v20\n", "v_mov_b32 v20, v6\n"})
    for (const char *shape : {"16x16x128", "32x32x64"})
      for (const char *formats : {"cbsz:4 blgp:4", "cbsz:2 blgp:2", "cbsz:4 blgp:3", "cbsz:0 blgp:4"}) {
        std::string body = scales;
        for (unsigned k = 0; k < 8; ++k)
          body += "v_mov_b32 v" + std::to_string(24 + k) + ", v" + std::to_string(k) + "\nv_mov_b32 v" +
                  std::to_string(32 + k) + ", v" + std::to_string(7 - k) + "\n";
        for (unsigned k = 0; k < 16; ++k)
          body += "v_mov_b32 v" + std::to_string(40 + k) + ", 0\n";
        auto registers = [&](unsigned first, char code) {
          return "v[" + std::to_string(first) + ":" +
                 std::to_string(first + (code == '4'   ? 3
                                         : code == '0' ? 7
                                                       : 5)) +
                 "]";
        };
        const std::string names = formats;
        const std::string sum = std::string(shape) == "16x16x128" ? "v[40:43]" : "v[40:55]";
        body += "v_mfma_scale_f32_" + std::string(shape) + "_f8f6f4 " + sum + ", " + registers(24, names[5]) +
                ", " + registers(32, names[12]) + ", " + sum + ", v20, v20 op_sel_hi:[0,0,0] " + names + "\n";
        for (unsigned k = 0; k < 4; ++k)
          body += "v_mov_b32 v" + std::to_string(8 + k) + ", v" + std::to_string(40 + k) + "\n";
        expect_same(body, inputs(), true);
      }
}

TEST_F(EachSimd, BoundsAreTheSame) {
  for (Simd simd : {Simd::Portable, Simd::Avx2, Simd::Avx512}) {
    use_simd(simd);
    Memory memory;
    const uint64_t buffer = *memory.allocate(1024);
    for (unsigned lane : {0u, 17u, 63u}) {
      // The lane's address is the last one at which a word is inside, or the first one outside.
      for (unsigned beyond : {0u, 1u}) {
        TestRun run("s_load_dwordx2 s[4:5], s[0:1], 0x0\nv_mov_b32 v1, 0\nv_cmp_eq_u32 vcc, " +
                    std::to_string(lane) + ", v0\nv_mov_b32 v2, " + std::to_string(1020 + beyond) +
                    "\nv_cndmask_b32 v1, v1, v2, vcc\ns_waitcnt lgkmcnt(0)\n"
                    "global_load_dword v3, v1, s[4:5]\n");
        run.argument(buffer);
        run.launch.block = {64, 1, 1};
        const Report report = run(memory);
        ASSERT_EQ(report.fault.has_value(), beyond == 1) << lane;
        if (beyond) {
          EXPECT_EQ(report.fault->lane, static_cast<int>(lane));
          EXPECT_NE(report.fault->text.find("reaches 1 byte beyond the end"), std::string::npos)
              << report.fault->text;
        }
      }
    }
  }
}

} // namespace
} // namespace nereid::sim::test
