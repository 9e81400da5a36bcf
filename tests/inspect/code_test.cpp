// What a report says of machine code alone: places, loops, live registers, occupancy.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include <gtest/gtest.h>

#include "inspect/inspect.h"
#include "inspect/occupancy.h"
#include "tests/sim/assembler.h"

namespace nereid::inspect {
namespace {

std::vector<std::byte> program(const std::string &name) {
  std::ifstream file(std::string(NEREID_SIM_PROGRAMS) + "/" + name, std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
  EXPECT_FALSE(bytes.empty()) << name;
  const auto view = std::as_bytes(std::span(bytes));
  return {view.begin(), view.end()};
}

Report report_of_assembly(const std::string &body, const sim::test::KernelOptions &options = {}) {
  return report_of(sim::test::assemble(body, options), "k").value();
}

/// The first instruction that begins with a text.
const Instruction &instruction(const Report &report, const std::string &text) {
  const auto found = std::find_if(report.code.begin(), report.code.end(),
                                  [&](const Instruction &of) { return of.text.starts_with(text); });
  if (found == report.code.end())
    throw std::runtime_error("there is no " + text);
  return *found;
}

TEST(ReportOfCode, NamesLineAndTextOfAnInstructionThatClangMade) {
  const Report report = report_of(program("lds.O3.hsaco"), "matrix_product").value();
  EXPECT_EQ(report.kernel, "matrix_product");
  EXPECT_EQ(report.origin, "code object");
  const Instruction &product = instruction(report, "v_mul_f32");
  ASSERT_TRUE(product.place.known());
  const SourceFile &file = report.files[static_cast<size_t>(product.place.file)];
  EXPECT_TRUE(file.path.ends_with("lds.cl")) << file.path;
  ASSERT_GE(file.lines.size(), product.place.line);
  EXPECT_NE(file.lines[product.place.line - 1].find("*"), std::string::npos)
      << file.lines[product.place.line - 1];
  EXPECT_FALSE(report.run);
  EXPECT_FALSE(report.notes.empty()) << "it says that nothing was launched";
}

TEST(ReportOfCode, CountsTheInstructionsOfALoop) {
  const Report report = report_of_assembly(R"(
    s_mov_b32 s4, 0
    v_mov_b32 v1, 0
  loop:
    v_add_u32 v1, v1, v0
    v_add_u32 v1, v1, v1
    s_add_u32 s4, s4, 1
    s_cmp_lt_u32 s4, 10
    s_cbranch_scc1 loop
    v_mov_b32 v2, v1
    s_endpgm)");
  ASSERT_EQ(report.loops.size(), 1U);
  ASSERT_EQ(report.hot_loop, 0);
  EXPECT_EQ(report.loops[0].mix, (std::map<std::string, unsigned>{{"valu", 2}, {"salu", 2}, {"branch", 1}}));
  EXPECT_EQ(report.code[report.loops[0].first].text.substr(0, 9), "v_add_u32");
  EXPECT_EQ(report.code[report.loops[0].last].target, static_cast<int>(report.loops[0].first));
}

TEST(ReportOfCode, TheInnermostLoopWithTheMostProductsLooksHot) {
  const std::string product = "v_mfma_f32_16x16x32_bf16 v[8:11], v[0:3], v[4:7], v[8:11]\n";
  const Report report =
      report_of_assembly("outer:\nfirst:\nv_mov_b32 v20, 1\nv_mov_b32 v21, 1\ns_cbranch_scc1 first\n"
                         "second:\n" +
                         product + "s_cbranch_scc0 second\ns_cbranch_vccz outer\ns_endpgm");
  ASSERT_EQ(report.loops.size(), 3U);
  ASSERT_GE(report.hot_loop, 0);
  EXPECT_EQ(report.loops[static_cast<size_t>(report.hot_loop)].mix.at("mfma"), 1U);
}

TEST(ReportOfCode, RegistersLiveFromTheirWriteToTheirLastRead) {
  const Report report = report_of_assembly(R"(
    v_mov_b32 v1, 1
    v_mov_b32 v2, 2
    v_accvgpr_write_b32 a0, v2
    v_add_u32 v3, v1, v2
    v_accvgpr_read_b32 v4, a0
    v_add_u32 v5, v3, v4
    v_mov_b32 v6, v5
    s_endpgm)");
  const auto live = [&](size_t index) {
    return std::pair(report.code[index].live_vgpr, report.code[index].live_agpr);
  };
  EXPECT_EQ(live(0), std::pair(0U, 0U));
  EXPECT_EQ(live(1), std::pair(1U, 0U)); // v1
  EXPECT_EQ(live(2), std::pair(2U, 0U)); // v1, v2
  EXPECT_EQ(live(3), std::pair(2U, 1U)); // v1, v2, a0
  EXPECT_EQ(live(4), std::pair(1U, 1U)); // v3, a0
  EXPECT_EQ(live(5), std::pair(2U, 0U)); // v3, v4
  EXPECT_EQ(live(6), std::pair(1U, 0U)); // v5
  EXPECT_EQ(live(7), std::pair(0U, 0U));
}

TEST(ReportOfCode, WhatALoopReadsInItsNextIterationIsLiveThroughIt) {
  const Report report = report_of_assembly(R"(
    v_mov_b32 v1, 1
    v_mov_b32 v2, 2
  loop:
    v_mov_b32 v3, v2
    v_add_u32 v3, v3, v1
    s_cbranch_scc1 loop
    s_endpgm)");
  EXPECT_EQ(report.code[4].live_vgpr, 2U) << "v1 and v2 are read again behind the branch";
}

TEST(OccupancyOf, NamesTheTightestResourceAndWhatTheNextStepTakes) {
  const CodeResources resources{.vgpr = 136, .agpr = 0, .sgpr = 35, .lds = 8192};
  const Occupancy occupancy = occupancy_of(resources, resources.lds, 4);
  EXPECT_EQ(occupancy.waves, 3U);
  ASSERT_EQ(occupancy.limits.size(), 3U);
  EXPECT_EQ(occupancy.limits[0].what, "vector registers");
  EXPECT_EQ(occupancy.limits[0].waves, 3U);
  EXPECT_EQ(occupancy.limits[0].remedy, "at most 128 registers: 4 waves a SIMD");
  EXPECT_EQ(occupancy.limits[0].next, 128U);
  EXPECT_EQ(occupancy.limits[1].waves, 8U);

  const Occupancy by_lds = occupancy_of({.vgpr = 32, .lds = 80 * 1024}, 80 * 1024, 4);
  EXPECT_EQ(by_lds.waves, 2U);
  EXPECT_EQ(by_lds.limits[0].what, "LDS");
}

TEST(ReportOfCode, RefusesWhatIsNoKernel) {
  const std::vector<std::byte> nothing(16);
  EXPECT_EQ(report_of(nothing, "").error().owner, Owner::User);
  const auto unknown = report_of(program("lds.O3.hsaco"), "no_such_kernel");
  EXPECT_EQ(unknown.error().owner, Owner::User);
  EXPECT_NE(unknown.error().text().find("no_such_kernel"), std::string::npos);
  const auto several = report_of(program("lds.O3.hsaco"), "");
  EXPECT_EQ(several.error().owner, Owner::User);
}

} // namespace
} // namespace nereid::inspect
