#include <gtest/gtest.h>

#include "codegen/plan/kernel_plan.h"
#include "tests/codegen/lower_harness.h"

namespace nereid::codegen::testing {
namespace {

using ir::Element;

struct Case {
  int64_t m = 16, n = 32;
  int waves = 4;
  int first = 0, last = 12; ///< iterations
  int stages = 2;
  bool starts_at_zero = true;
};

constexpr int64_t block_k = 128;
constexpr ir::Format e2m1 = ir::Format::E2M1;

/// c (+)= quantised a times b, with a of bf16, b and its scales as they come; arguments a, b, scales, c.
ir::Function product(const Case &c) {
  KernelBuilder b(c.waves);
  b.options().wave_split = ir::WaveSplit::K;
  const ir::ValueId pa = b.pointer(Element::BF16), pb = b.pointer(Element::U8), ps = b.pointer(Element::U8),
                    pc = b.pointer(Element::F32);
  const ir::ValueId start[] = {c.starts_at_zero ? b.constant(ir::Type::tile(Element::F32, {c.m, c.n}), 0)
                                                : b.load_tile(pc, {c.m, c.n})};
  const ir::Builder::Loop loop = b.begin_for(b.number(c.first * block_k), b.number(c.last * block_k),
                                             b.number(block_k), c.stages, start);
  // An iteration's tiles lie one after another.
  const auto tile = [&](ir::ValueId pointer, int64_t rows, int64_t values_of_element) {
    const ir::ValueId offset = b.mul(loop.index, b.number(rows));
    const ir::ValueId first = b.binary(ir::Opcode::Div, offset, b.number(values_of_element));
    return b.load_tile(b.ptr_add(pointer, first), {rows, block_k / values_of_element});
  };
  const auto [codes, scale] = b.quantize(tile(pa, c.m, 1), e2m1, ir::ScaleRule::Even);
  const ir::ValueId right = tile(pb, c.n, 2), right_scale = tile(ps, c.n, 32);
  const ir::ValueId next[] = {b.add(
      loop.carried[0], b.dot_scaled({codes, scale, e2m1}, {b.permute(right, {1, 0}), right_scale, e2m1}))};
  b.store_tile(pc, b.end_for(next)[0]);
  return b.done();
}

std::string plan_of(const Case &c) {
  const ir::Function function = product(c);
  return plan_kernel(function).value()->text();
}

/// Whole numbers up to 4 and scales of one: every order of summing gives the same.
void check(const Case &c) {
  SCOPED_TRACE(::testing::Message() << c.m << "x" << c.n << ", " << c.waves << " waves, iterations "
                                    << c.first << " to " << c.last);
  const int64_t k = c.last * block_k;
  Random random(7);
  std::vector<uint16_t> a(c.m * k);
  for (uint16_t &x : a)
    x = random.next() % 2 ? 0x4000 : 0xc080;
  std::vector<float> start(c.m * c.n);
  for (size_t i = 0; i < start.size(); ++i)
    start[i] = static_cast<float>(i % 50) - 20;
  expect_same(product(c), {1, 1, 1},
              {buffer(a), buffer(random.bits<uint8_t>(c.n * k / 2)),
               buffer(std::vector<uint8_t>(c.n * k / 32, 127)), buffer(start)},
              {{3, Element::F32}});
}

TEST(WrittenOut, EveryNumberOfIterationsAndWaves) {
  for (int waves : {2, 4, 8})
    for (int of_wave : {1, 2, 3, 8}) {
      check({.waves = waves, .last = waves * of_wave});
      EXPECT_NE(plan_of({.waves = waves, .last = waves * of_wave})
                    .find("all " + std::to_string(of_wave) + " iterations of a wave in flight"),
                std::string::npos);
    }
}

TEST(WrittenOut, TilesAndStarts) {
  for (const auto &[m, n] : {std::pair<int64_t, int64_t>{32, 96}, {16, 112}, {48, 16}})
    check({.m = m, .n = n});
  check({.first = 4, .starts_at_zero = false});
}

TEST(WrittenOut, OnlyIterationsThatAreFewAndFit) {
  const std::string ahead = "iterations ahead";
  EXPECT_NE(plan_of({.last = 36}).find(ahead), std::string::npos) << "too many";
  EXPECT_NE(plan_of({.last = 10}).find(ahead), std::string::npos) << "not as many for each wave";
  EXPECT_NE(plan_of({.m = 32, .n = 96, .last = 28}).find(ahead), std::string::npos) << "too many registers";
  EXPECT_NE(plan_of({.stages = 1}).find("one iteration after the other"), std::string::npos)
      << "not asked for";
  for (int last : {10, 36})
    check({.last = last});
}

/// What is quantised is loaded first, then the rest while it is quantised; no wait is for all loads but the
/// last ones.
TEST(WrittenOut, LoadsAreStartedBetweenConversions) {
  const std::string text = assembly(product({.m = 32, .n = 96}));
  const size_t converted = text.find("v_cvt_scalef32_pk_fp4_bf16"), multiplied = text.find("v_mfma");
  const size_t last_load = text.rfind("buffer_load", multiplied);
  EXPECT_LT(converted, last_load);
  EXPECT_LT(last_load, multiplied);
  EXPECT_EQ(text.find("buffer_load", multiplied), std::string::npos);
  EXPECT_GT(text.find("vmcnt(0)"), multiplied);
  EXPECT_EQ(text.find("s_cbranch"), std::string::npos);
}

/// Columns are complete one after the other, over all iterations: behind the last wait for a load stand the
/// dots of the last column alone, and the first sums have left for the LDS.
TEST(WrittenOut, DotsGoInTheOrderInWhichTheirOperandsArrive) {
  constexpr size_t iterations_of_wave = 3, row_tiles = 2;
  const std::string text = assembly(product({.m = 32, .n = 96, .last = 4 * iterations_of_wave}));
  const size_t all_arrived = text.find("vmcnt(0)", text.find("v_mfma"));
  ASSERT_NE(all_arrived, std::string::npos);
  size_t behind = 0;
  for (size_t at = text.find("v_mfma", all_arrived); at != std::string::npos;
       at = text.find("v_mfma", at + 1))
    ++behind;
  EXPECT_LE(behind, iterations_of_wave * row_tiles);
}

} // namespace
} // namespace nereid::codegen::testing
