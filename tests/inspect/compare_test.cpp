// Two reports side by side.
#include <algorithm>

#include <gtest/gtest.h>

#include "inspect/compare.h"
#include "inspect/inspect.h"
#include "inspect/render/render.h"
#include "tests/sim/assembler.h"

namespace nereid::inspect {
namespace {

Report report(const std::string &body) { return report_of(sim::test::assemble(body), "k").value(); }

std::vector<std::pair<int, int>> lines(const Comparison &comparison) {
  std::vector<std::pair<int, int>> pairs;
  for (const CodeLine &line : comparison.code)
    pairs.emplace_back(line.a, line.b);
  return pairs;
}

TEST(Compare, EqualOperationsShareALineWhateverTheirRegisters) {
  const Comparison comparison = compare(report("v_mov_b32 v1, 1\nv_add_u32 v2, v1, v1"),
                                        report("v_mov_b32 v7, 1\nv_add_u32 v9, v7, v7"));
  EXPECT_EQ(lines(comparison), (std::vector<std::pair<int, int>>{{0, 0}, {1, 1}, {2, 2}}));
}

TEST(Compare, WhatIsInOneAloneHasALineOfItsOwn) {
  const Comparison comparison = compare(report("v_mov_b32 v1, 1\nv_add_u32 v2, v1, v1"),
                                        report("v_mov_b32 v7, 1\ns_nop 0\nv_add_u32 v9, v7, v7"));
  EXPECT_EQ(lines(comparison), (std::vector<std::pair<int, int>>{{0, 0}, {-1, 1}, {1, 2}, {2, 3}}));
  const std::string text = to_text(comparison);
  EXPECT_NE(text.find("+ "), std::string::npos);
  EXPECT_NE(text.find("s_nop 0"), std::string::npos);
  const auto instructions = std::find_if(comparison.figures.begin(), comparison.figures.end(),
                                         [](const Figure &figure) { return figure.name == "instructions"; });
  ASSERT_NE(instructions, comparison.figures.end());
  EXPECT_EQ(instructions->a, 3);
  EXPECT_EQ(instructions->b, 4);
}

TEST(Compare, NothingOfALaunchIsComparedUnlessBothHaveOne) {
  const Comparison comparison = compare(report("s_nop 0"), report("s_nop 0"));
  for (const Figure &figure : comparison.figures)
    EXPECT_NE(figure.group, "time");
  EXPECT_LT(to_html(comparison).size(), 2'000'000U);
}

} // namespace
} // namespace nereid::inspect
