#include "codegen/layout/layout_drawing.h"

#include <gtest/gtest.h>

#include "tests/codegen/layout_samples.h"

namespace nereid::codegen {
namespace {

TEST(LayoutDrawing, ShowsWhoHoldsEachElement) {
  EXPECT_EQ(draw(LinearLayout::blocked({4, 8}, {1, 2}, {2, 4}, {2, 1}, {1, 0})),
            "[4, 8] register: (0,1) lane: (0,2) (0,4) (1,0) wave: (2,0)\n"
            "  | 0         1         2         3         4         5         6         7\n"
            "0 | w0 l0 r0  w0 l0 r1  w0 l1 r0  w0 l1 r1  w0 l2 r0  w0 l2 r1  w0 l3 r0  w0 l3 r1\n"
            "1 | w0 l4 r0  w0 l4 r1  w0 l5 r0  w0 l5 r1  w0 l6 r0  w0 l6 r1  w0 l7 r0  w0 l7 r1\n"
            "2 | w1 l0 r0  w1 l0 r1  w1 l1 r0  w1 l1 r1  w1 l2 r0  w1 l2 r1  w1 l3 r0  w1 l3 r1\n"
            "3 | w1 l4 r0  w1 l4 r1  w1 l5 r0  w1 l5 r1  w1 l6 r0  w1 l6 r1  w1 l7 r0  w1 l7 r1\n");
}

TEST(LayoutDrawing, MarksBroadcastsHolesAndWhatIsLeftOut) {
  EXPECT_EQ(draw(samples::from_bases({64}, {{2}}, {{4}, {0}}, {}), {16, 4}),
            "[64] register: (2) lane: (4) 0\n"
            "  | 0         1  2         3  ... 63\n"
            "0 | l0 r0 x2  -  l0 r1 x2  -\n");
}

TEST(LayoutDrawing, HigherRanksGiveATableEach) {
  const std::string text = draw(LinearLayout::identity1d(Space::Register, 3, 0, 6) *
                                LinearLayout::identity1d(Space::Lane, 3, 2, 2));
  EXPECT_NE(text.find("at [3, ...]\n  | 0      1\n0 | l0 r3  l1 r3\n... 2 more tables\n"), std::string::npos)
      << text;
}

TEST(LayoutDrawing, AScalarHasOneCell) { EXPECT_EQ(draw(LinearLayout()), "[]\n  | 0\n0 | r0\n"); }

} // namespace
} // namespace nereid::codegen
