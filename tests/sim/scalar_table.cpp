#include "tests/sim/scalar_table.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/sim/assembler.h"

namespace nereid::sim::test {

void expect_scalars(const std::vector<ScalarCase> &cases) {
  const uint64_t values[] = {0,
                             1,
                             5,
                             31,
                             0x7FFFFFFF,
                             0x80000000,
                             0xFFFFFFFF,
                             0x123456789ABCDEF0,
                             0x8000000000000000,
                             0xFFFFFFFFFFFFFFFF,
                             0x00100004,
                             0x000C0008};
  std::string body =
      "s_load_dwordx4 s[24:27], s[0:1], 0x8\ns_load_dwordx2 s[30:31], s[0:1], 0x0\nv_mov_b32 v9, 0\n"
      "s_waitcnt lgkmcnt(0)\n";
  for (size_t k = 0; k < cases.size(); ++k)
    body += fmt::format(
        "s_mov_b64 s[20:21], 0\ns_cmp_lg_u32 0, 0\n{}\ns_cselect_b32 s22, 1, 0\nv_mov_b32 v2, s20\n"
        "v_mov_b32 v3, s21\nv_mov_b32 v4, s22\nglobal_store_dwordx3 v9, v[2:4], s[30:31] offset:{}\n",
        cases[k].text, 12 * k);
  TestRun program(body);
  for (uint64_t a : values)
    for (uint64_t b : values) {
      Memory memory;
      uint64_t out = *memory.allocate(12 * cases.size());
      TestRun run = program;
      run.argument(out).argument(a).argument(b);
      Report report = run(memory);
      ASSERT_FALSE(report.fault) << report.fault->error().text();
      std::vector<uint32_t> results(3 * cases.size());
      ASSERT_TRUE(memory.read(out, results.data(), 12 * cases.size()).ok());
      for (size_t k = 0; k < cases.size(); ++k) {
        ScalarResult expected = cases[k].expected(a, b);
        uint64_t actual = results[3 * k] | uint64_t{results[3 * k + 1]} << 32;
        EXPECT_EQ(actual, cases[k].wide ? expected.value : expected.value & 0xFFFFFFFF)
            << fmt::format("{} with {:#x}, {:#x}", cases[k].text, a, b);
        EXPECT_EQ(results[3 * k + 2], expected.scc)
            << fmt::format("{} with {:#x}, {:#x}", cases[k].text, a, b);
      }
    }
}

} // namespace nereid::sim::test
