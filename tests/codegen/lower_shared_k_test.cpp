#include <array>

#include <gtest/gtest.h>

#include "tests/codegen/lower_harness.h"

namespace nereid::codegen::testing {
namespace {

using ir::Element;

/// c (+)= quantize(a) b outside of a loop, or over the rounds of one. a is row-major bf16 [m, k], b e2m1
/// [n, k] with scales; sums are exact whatever their order.
struct Product {
  int64_t m, n, k;
  int waves = 1;
  bool adds = false;
  int iterations = 0; ///< 0: no loop
  bool quantized = true;
  ir::WaveSplit split = ir::WaveSplit::Auto;
  int stages = 2;
};

ir::Function kernel(const Product &p) {
  KernelBuilder b(p.waves);
  b.options().wave_split = p.split;
  ir::ValueId pa = b.pointer(Element::BF16), pb = b.pointer(Element::U8), psb = b.pointer(Element::U8),
              pc = b.pointer(Element::F32), pqa = b.pointer(Element::U8), psa = b.pointer(Element::U8);
  ir::ValueId last = b.scalar_argument(Element::I32);
  const auto product = [&](ir::ValueId round) {
    const auto tile = [&](ir::ValueId pointer, int64_t rows, int64_t bases) {
      return b.load_tile(b.ptr_add(pointer, b.mul(round, b.number(rows * bases))), {rows, bases});
    };
    ir::ValueId codes, scales;
    if (p.quantized) {
      auto [made_codes, made_scales] = b.quantize(tile(pa, p.m, p.k), ir::Format::E2M1, ir::ScaleRule::Even);
      codes = made_codes;
      scales = made_scales;
    } else {
      codes = tile(pqa, p.m, p.k / 2);
      scales = tile(psa, p.m, p.k / 32);
    }
    return b.dot_scaled({codes, scales, ir::Format::E2M1}, {b.permute(tile(pb, p.n, p.k / 2), {1, 0}),
                                                            tile(psb, p.n, p.k / 32), ir::Format::E2M1});
  };
  ir::ValueId sum =
      p.adds ? b.load_tile(pc, {p.m, p.n}) : b.constant(ir::Type::tile(Element::F32, {p.m, p.n}), 0);
  if (p.iterations == 0) {
    sum = b.add(sum, product(b.number(0)));
  } else {
    const ir::ValueId start[] = {sum};
    ir::Builder::Loop loop = b.begin_for(b.number(0), last, b.number(1), p.stages, start);
    const ir::ValueId next[] = {b.add(loop.carried[0], product(loop.index))};
    sum = b.end_for(next)[0];
  }
  b.store_tile(pc, sum);
  return b.done();
}

void check(const Product &p) {
  SCOPED_TRACE(::testing::Message() << p.m << "x" << p.n << "x" << p.k << ", " << p.waves << " waves, "
                                    << p.iterations << " rounds" << (p.adds ? ", adds" : ""));
  static constexpr uint16_t numbers[] = {0xc080, 0xc040, 0xc000, 0xbf80, 0, 0x3f80, 0x4000, 0x4040, 0x4080};
  const size_t iterations = std::max(1, p.iterations);
  Random random(11);
  std::vector<uint16_t> a(p.m * p.k * iterations);
  for (uint16_t &value : a)
    value = numbers[random.next() % 9];
  const auto near_one = [&](size_t count) {
    std::vector<uint8_t> scales(count);
    for (uint8_t &value : scales)
      value = static_cast<uint8_t>(125 + random.next() % 4);
    return scales;
  };
  std::vector<float> c(p.m * p.n);
  for (float &value : c)
    value = static_cast<float>(random.next() % 100) + 1;
  expect_same(kernel(p), {1, 1, 1},
              {buffer(a), buffer(random.bits<uint8_t>(p.n * p.k / 2 * iterations)),
               buffer(near_one(p.n * p.k / 32 * iterations)), buffer(c),
               buffer(random.bits<uint8_t>(p.m * p.k / 2 * iterations)),
               buffer(near_one(p.m * p.k / 32 * iterations)), i32(p.iterations)},
              {{3, Element::F32}});
}

TEST(SharedK, WavesTakePartsOfAProduct) {
  for (int waves : {2, 4, 8})
    for (int64_t k : {256, 512, 1024})
      for (bool adds : {false, true})
        check({16, 32, k, waves, adds});
  check({32, 64, 512, 4, true});
  check({16, 16, 512, 4, false, 0, /*quantized=*/false});
}

TEST(SharedK, LanesOfAbsentRowsTakeOtherSteps) {
  for (int64_t m : {1, 2, 4, 8})
    for (int64_t k : {64, 128, 256, 512, 1024, 2048})
      check({m, 16, k, 1, k == 512});
  for (int64_t n : {32, 64})
    check({4, n, 512});
}

TEST(SharedK, LanesAndWaves) {
  for (int waves : {2, 4})
    for (int64_t m : {4, 8})
      for (int64_t k : {512, 2048})
        check({m, 32, k, waves, true});
}

TEST(SharedK, LanesOfAbsentRowsInALoop) {
  for (int waves : {1, 4})
    for (int iterations : {1, 2, 5})
      for (int64_t m : {4, 8})
        check({m, 32, 512, waves, true, iterations});
}

TEST(SharedQuantize, EachWaveQuantisesAPartForAll) {
  for (int waves : {2, 4, 8})
    for (int iterations : {0, 1, 2, 3, 6})
      for (int stages : {1, 2, 3})
        check({16, 64, 512, waves, true, iterations, true, ir::WaveSplit::N, stages});
  check({32, 128, 256, 4, false, 5, true, ir::WaveSplit::N, 2});
  check({4, 64, 1024, 4, false, 5, true, ir::WaveSplit::N, 2});
}

TEST(SharedK, OddFactors) {
  for (int waves : {1, 4})
    for (int iterations : {0, 3})
      for (ir::WaveSplit split : {ir::WaveSplit::Auto, ir::WaveSplit::N, ir::WaveSplit::Mn})
        for (auto [m, n, k] : {std::array<int64_t, 3>{16, 48, 512}, {48, 32, 256}, {12, 80, 768}})
          check({m, n, k, waves, true, iterations, true, split});
  check({48, 48, 256, 4, true, 5, true, ir::WaveSplit::K});
  check({3, 48, 384, 4, false, 5, false, ir::WaveSplit::K});
}

TEST(SharedQuantize, OneBarrierARound) {
  // Two copies in the loop, one round left over; the leftover's and the copies' places in LDS differ.
  const std::string text = assembly(kernel({16, 64, 512, 4, false, 4, true, ir::WaveSplit::N, 2}));
  size_t barriers = 0;
  for (size_t at = text.find("s_barrier"); at != std::string::npos; at = text.find("s_barrier", at + 1))
    ++barriers;
  EXPECT_EQ(barriers, 3U) << text;
}

TEST(SharedK, AStepThatIsNaNIsNaNForEveryRow) {
  // A NaN scale of b in one step meets the zeros that stand in for other steps.
  Product p{4, 16, 512};
  std::vector<uint16_t> a(p.m * p.k, 0x3f80);
  std::vector<uint8_t> scales(p.n * p.k / 32, 127);
  scales[3 * p.k / 32 + 9] = 255;
  expect_same(kernel(p), {1, 1, 1},
              {buffer(a), buffer(std::vector<uint8_t>(p.n * p.k / 2, 0x22)), buffer(scales),
               buffer(std::vector<float>(p.m * p.n)), buffer(std::vector<uint8_t>(p.m * p.k / 2)),
               buffer(std::vector<uint8_t>(p.m * p.k / 32)), i32(0)},
              {{3, Element::F32}});
}

} // namespace
} // namespace nereid::codegen::testing
