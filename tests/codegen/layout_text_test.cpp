// Layouts as text that reads back, and as pictures.
#include <gtest/gtest.h>

#include "codegen/assign/mfma_table.h"
#include "codegen/layout/layout_svg.h"
#include "codegen/layout/layout_text.h"

namespace nereid::codegen {
namespace {

size_t count(const std::string &text, const std::string &part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

TEST(LayoutText, ReadsBackWhatItPrints) {
  const LinearLayout layouts[] = {
      LinearLayout(),
      find_mfma(MfmaKind::F8F6F4, 16).a_layout,
      find_mfma(MfmaKind::BF16, 32).result_layout,
      LinearLayout::blocked({64, 128}, {1, 8}, {4, 16}, {4, 1}, {1, 0}),
      LinearLayout::blocked({48}, {1}, {16}, {1}, {0}),
      LinearLayout::identity1d(Space::Lane, 1, 0, 8) * LinearLayout::zeros1d(Space::Wave, 1, 12),
  };
  for (const LinearLayout &layout : layouts) {
    const Result<LinearLayout> read = parse_layout(layout.text());
    ASSERT_TRUE(read.ok()) << layout.text() << ": " << read.error().text();
    EXPECT_EQ(*read, layout) << layout.text();
  }
}

TEST(LayoutText, RefusesWhatIsNoLayout) {
  for (const char *text :
       {"", "[", "[0]", "[-1]", "[16", "[16] lanes: (1)", "[16] lane:(1", "[16] lane: (16)",
        "[16] lane: (1,2)", "[48] register: (1)", "[48] register: (1); lane x3 along 0",
        "[48] register: (1); register x3 along 7", "[16] lane: (1) trailing",
        "[1] register: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0",
        "[1] register x4294967295 broadcast", "[1]; register x4294967295 broadcast", "[99999999999]",
        "[1048576, 1048576, 1048576]", "[1, 1, 1, 1, 1, 1, 1, 1, 1]"}) {
    const Result<LinearLayout> read = parse_layout(text);
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_EQ(read.error().owner, Owner::User) << text;
  }
}

TEST(LayoutSvg, HasACellForEachElementWithItsHolder) {
  const LinearLayout result = find_mfma(MfmaKind::F8F6F4, 16).result_layout; // [16, 16]
  const std::string svg = draw_svg(result);
  EXPECT_TRUE(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\"")) << svg.substr(0, 60);
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  EXPECT_EQ(count(svg, "<rect"), 1 + 16 * 16);
  EXPECT_EQ(count(svg, ">l63<"), 4U) << "a lane holds four values";
  EXPECT_EQ(count(svg, ">r3<"), 64U);
  EXPECT_EQ(count(svg, "<text"), count(svg, "</text>"));
}

TEST(LayoutSvg, SaysWhatItLeavesOutAndHowOftenAnElementIsHeld) {
  const LinearLayout copies =
      LinearLayout::identity1d(Space::Lane, 1, 0, 8) * LinearLayout::zeros1d(Space::Wave, 1, 4);
  EXPECT_NE(draw_svg(copies).find(">r0 x4<"), std::string::npos);
  const LinearLayout large = LinearLayout::blocked({256, 256}, {1, 8}, {4, 16}, {4, 1}, {1, 0});
  const std::string svg = draw_svg(large, {.rows = 2, .columns = 4});
  EXPECT_EQ(count(svg, "<rect"), 1 + 2 * 4);
  EXPECT_NE(svg.find("2 of 256 rows, 4 of 256 columns"), std::string::npos);
}

} // namespace
} // namespace nereid::codegen
