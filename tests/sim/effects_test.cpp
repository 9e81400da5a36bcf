// Which registers an instruction reads and writes, as the disassembler tells it.

#include <algorithm>

#include <gtest/gtest.h>

#include "sim/decode/program.h"
#include "tests/sim/assembler.h"

namespace nereid::sim {
namespace {

using Ranges = std::vector<RegisterRange>;

RegisterRange v(unsigned first, unsigned count = 1) {
  return {static_cast<uint16_t>(first), static_cast<uint8_t>(count), true};
}
RegisterRange a(unsigned first, unsigned count = 1) { return v(256 + first, count); }
RegisterRange s(unsigned first, unsigned count = 1) {
  return {static_cast<uint16_t>(first), static_cast<uint8_t>(count), false};
}
constexpr unsigned vcc = 106, m0 = 124, exec = 126;

struct Case {
  const char *text;
  Ranges writes, reads;
  bool writes_scc = false, reads_scc = false;
};

TEST(Effects, NameTheRegistersOfAnInstruction) {
  const Case cases[] = {
      {"v_add_f32 v1, s2, v3", {v(1)}, {s(2), v(3)}},
      {"v_fmac_f32 v1, v2, v3", {v(1)}, {v(2), v(3), v(1)}},
      {"v_cndmask_b32 v1, v2, v3, vcc", {v(1)}, {v(2), v(3), s(vcc, 2)}},
      {"v_cmp_lt_f64 s[4:5], v[2:3], v[6:7]", {s(4, 2)}, {v(2, 2), v(6, 2)}},
      {"v_accvgpr_read_b32 v1, a5", {v(1)}, {a(5)}},
      {"s_and_saveexec_b64 s[0:1], vcc", {s(0, 2), s(exec, 2)}, {s(vcc, 2), s(exec, 2)}, true},
      {"s_addc_u32 s0, s1, s2", {s(0)}, {s(1), s(2)}, true, true},
      {"s_load_dwordx4 s[4:7], s[0:1], s9", {s(4, 4)}, {s(0, 2), s(9)}},
      {"global_load_dwordx2 v[4:5], v0, s[2:3]", {v(4, 2)}, {v(0), s(2, 2)}},
      {"global_store_dwordx3 v[0:1], v[4:6], off", {}, {v(0, 2), v(4, 3)}},
      {"buffer_load_dwordx4 v2, s[8:11], s3 offen lds", {}, {v(2), s(8, 4), s(3), s(m0)}},
      {"ds_read_b128 v[4:7], v9", {v(4, 4)}, {v(9)}},
      {"v_mfma_scale_f32_16x16x128_f8f6f4 a[0:3], v[248:251], v[252:255], a[0:3], v8, v9 cbsz:4 blgp:4",
       {a(0, 4)},
       {v(248, 4), v(252, 4), a(0, 4), v(8), v(9)}},
      {"v_mfma_f32_16x16x128_f8f6f4 v[0:3], a[4:9], v[10:17], v[0:3] cbsz:2",
       {v(0, 4)},
       {a(4, 6), v(10, 8), v(0, 4)}},
  };
  for (const Case &expected : cases) {
    const CodeObject code = test::load(test::assemble(std::string(expected.text) + "\ns_endpgm"));
    const uint64_t start = (*code.kernel(""))->first_instruction();
    const Effects &found = code.program().effects(code.program().index_at(start));
    EXPECT_EQ(found.writes, expected.writes) << expected.text;
    EXPECT_EQ(found.writes_scc, expected.writes_scc) << expected.text;
    EXPECT_EQ(found.reads_scc, expected.reads_scc) << expected.text;
    for (const RegisterRange &range : expected.reads)
      EXPECT_NE(std::find(found.reads.begin(), found.reads.end(), range), found.reads.end())
          << expected.text << ": " << range.first << " is not among the reads";
    EXPECT_EQ(found.reads.size(), expected.reads.size()) << expected.text;
  }
}

} // namespace
} // namespace nereid::sim
