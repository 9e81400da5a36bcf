#include <bit>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "tests/codegen/lower_harness.h"

namespace nereid::codegen::testing {
namespace {

using ir::Element;
using ir::Opcode;

/// Whole numbers from -4 to 4 as bf16 or f16, so that every sum is exact.
std::vector<uint16_t> small_numbers(Element element, size_t count, uint64_t seed) {
  static constexpr uint16_t bf16[] = {0xc080, 0xc040, 0xc000, 0xbf80, 0, 0x3f80, 0x4000, 0x4040, 0x4080};
  static constexpr uint16_t f16[] = {0xc400, 0xc200, 0xc000, 0xbc00, 0, 0x3c00, 0x4000, 0x4200, 0x4400};
  Random random(seed);
  std::vector<uint16_t> values(count);
  for (uint16_t &value : values)
    value = (element == Element::BF16 ? bf16 : f16)[random.next() % 9];
  return values;
}

struct Size {
  int64_t m, n, k;
};

void check_dot(Element element, Size size, int waves, int mfma, bool transposed, bool accumulate) {
  KernelBuilder b(waves);
  b.options().mfma = mfma;
  ir::ValueId pa = b.pointer(element), pb = b.pointer(element), pc = b.pointer(Element::F32);
  ir::ValueId a = b.load_tile(pa, {size.m, size.k});
  ir::ValueId right =
      transposed ? b.permute(b.load_tile(pb, {size.n, size.k}), {1, 0}) : b.load_tile(pb, {size.k, size.n});
  ir::ValueId product = b.dot(a, right);
  b.store_tile(pc, accumulate ? b.add(b.load_tile(pc, {size.m, size.n}), product) : product);
  Random random(5);
  std::vector<float> c(size.m * size.n);
  for (float &value : c)
    value = static_cast<float>(random.next() % 100);
  expect_same(b.done(), {1, 1, 1},
              {buffer(small_numbers(element, size.m * size.k, 1)),
               buffer(small_numbers(element, size.n * size.k, 2)), buffer(c)},
              {{2, Element::F32}});
}

TEST(LowerDot, EveryShape) {
  for (Size size : {Size{16, 16, 32},
                    {32, 32, 64},
                    {16, 64, 32},
                    {64, 16, 128},
                    {8, 16, 16},
                    {4, 8, 32},
                    {16, 16, 8},
                    {1, 16, 64},
                    {2, 2, 2},
                    {64, 64, 64}})
    for (int waves : {1, 4})
      for (bool transposed : {false, true})
        check_dot(Element::BF16, size, waves, 16, transposed, false);
}

TEST(LowerDot, OddFactorsOfEverySide) {
  for (Size size : {Size{48, 16, 32}, {16, 80, 96}, {12, 24, 160}, {3, 5, 6}, {48, 48, 48}, {32, 32, 224}})
    for (int waves : {1, 4})
      for (int mfma : {16, 32})
        check_dot(Element::BF16, size, waves, mfma, true, waves == 4);
}

TEST(LowerDot, FormatsInstructionsAndSums) {
  for (Element element : {Element::BF16, Element::F16})
    for (int mfma : {16, 32})
      for (bool accumulate : {false, true})
        for (int waves : {1, 2, 8})
          check_dot(element, {64, 32, 64}, waves, mfma, true, accumulate);
}

TEST(LowerDot, SumsOfALoopStayInTheInstruction) {
  KernelBuilder b(1);
  ir::ValueId pa = b.pointer(Element::BF16), pb = b.pointer(Element::BF16), pc = b.pointer(Element::F32);
  ir::ValueId n = b.scalar_argument(Element::I32);
  ir::ValueId a = b.load_tile(pa, {16, 32}), right = b.permute(b.load_tile(pb, {16, 32}), {1, 0});
  const ir::ValueId zero[] = {b.constant(ir::Type::tile(Element::F32, {16, 16}), 0)};
  ir::Builder::Loop loop = b.begin_for(b.number(0), n, b.number(1), 1, zero);
  const ir::ValueId next[] = {b.add(loop.carried[0], b.dot(a, right))};
  b.store_tile(pc, b.end_for(next)[0]);
  ir::Function function = b.done();
  std::string text = assembly(function);
  EXPECT_EQ(text.find("v_add_f32"), std::string::npos);
  EXPECT_EQ(text.find("v_pk_add_f32"), std::string::npos);
  expect_same(function, {1, 1, 1},
              {buffer(small_numbers(Element::BF16, 512, 1)), buffer(small_numbers(Element::BF16, 512, 2)),
               buffer(std::vector<float>(256)), i32(5)});
}

/// Scales near 1, so that every sum is exact.
std::vector<uint8_t> scales(size_t count, uint64_t seed) {
  Random random(seed);
  std::vector<uint8_t> values(count);
  for (uint8_t &value : values)
    value = static_cast<uint8_t>(125 + random.next() % 4);
  return values;
}

ir::Function dot_scaled_kernel(Size size, int waves, int mfma) {
  KernelBuilder b(waves);
  b.options().mfma = mfma;
  ir::ValueId pa = b.pointer(Element::U8), psa = b.pointer(Element::U8), pb = b.pointer(Element::U8),
              psb = b.pointer(Element::U8), pc = b.pointer(Element::F32);
  ir::ValueId a = b.load_tile(pa, {size.m, size.k / 2}), sa = b.load_tile(psa, {size.m, size.k / 32});
  ir::ValueId right = b.permute(b.load_tile(pb, {size.n, size.k / 2}), {1, 0}),
              sb = b.load_tile(psb, {size.n, size.k / 32});
  b.store_tile(pc, b.dot_scaled({a, sa, ir::Format::E2M1}, {right, sb, ir::Format::E2M1}));
  return b.done();
}

void check_dot_scaled(Size size, int waves, int mfma) {
  Random random(6);
  expect_same(dot_scaled_kernel(size, waves, mfma), {1, 1, 1},
              {buffer(random.bits<uint8_t>(size.m * size.k / 2)), buffer(scales(size.m * size.k / 32, 1)),
               buffer(random.bits<uint8_t>(size.n * size.k / 2)), buffer(scales(size.n * size.k / 32, 2)),
               buffer(std::vector<float>(size.m * size.n))},
              {{4, Element::F32}});
}

TEST(LowerDotScaled, EveryShape) {
  for (Size size : {Size{16, 16, 128},
                    {32, 32, 256},
                    {16, 64, 32},
                    {64, 16, 64},
                    {8, 16, 512},
                    {1, 16, 128},
                    {16, 8, 512},
                    {32, 128, 256}})
    for (int waves : {1, 4})
      check_dot_scaled(size, waves, 16);
  check_dot_scaled({64, 64, 128}, 4, 32);
}

TEST(LowerDotScaled, OddFactorsOfEverySide) {
  for (Size size : {Size{48, 16, 128}, {16, 80, 96}, {12, 24, 384}, {3, 48, 768}, {48, 48, 640}})
    for (int waves : {1, 4})
      check_dot_scaled(size, waves, 16);
  check_dot_scaled({96, 32, 192}, 4, 32);
}

/// Which groups of 32 along K meet in an instruction is free: a lane takes neighbours, whose scales are one
/// access.
TEST(LowerDotScaled, NeighbouringScalesAreLoadedTogether) {
  const auto expect_loads = [](const Size &size, const std::string &load, const std::string &narrower) {
    const std::string text = assembly(dot_scaled_kernel(size, 1, 16));
    EXPECT_NE(text.find(load + " "), std::string::npos) << size.k;
    EXPECT_EQ(text.find(narrower + " "), std::string::npos) << size.k;
  };
  expect_loads({16, 16, 512}, "buffer_load_dword", "buffer_load_ubyte");
  expect_loads({32, 32, 1024}, "buffer_load_dword", "buffer_load_ubyte");
  expect_loads({16, 16, 256}, "buffer_load_ushort", "buffer_load_ubyte");
  for (Size size : {Size{16, 16, 1024}, {32, 16, 2048}, {16, 48, 1536}})
    for (int waves : {1, 2, 4})
      check_dot_scaled(size, waves, 16);
  check_dot_scaled({32, 64, 512}, 2, 32);
}

TEST(LowerDotScaled, ConstantScaleZeroIsNoScaleOfOne) {
  KernelBuilder b(1);
  ir::ValueId pa = b.pointer(Element::U8), pb = b.pointer(Element::U8), pc = b.pointer(Element::F32);
  ir::ValueId zero = b.integer(Element::U8, 0, {16, 4}), large = b.integer(Element::U8, 250, {16, 4});
  ir::ValueId a = b.load_tile(pa, {16, 64}), right = b.permute(b.load_tile(pb, {16, 64}), {1, 0});
  ir::ValueId tiny = b.dot_scaled({a, zero, ir::Format::E2M1}, {right, zero, ir::Format::E2M1});
  ir::ValueId normal = b.dot_scaled({a, zero, ir::Format::E2M1}, {right, large, ir::Format::E2M1});
  b.store_tile(pc, b.add(tiny, normal));
  Random random(7);
  expect_same(b.done(), {1, 1, 1},
              {buffer(random.bits<uint8_t>(1024)), buffer(random.bits<uint8_t>(1024)),
               buffer(std::vector<float>(256))},
              {{2, Element::F32}});
}

TEST(LowerDotScaled, BytesOfALoadedDwordAreSelectedByTheInstruction) {
  // Shuffled scales: a dword of a lane holds two halves of rows and two steps of K.
  KernelBuilder b(1);
  ir::ValueId pa = b.pointer(Element::U8), psa = b.pointer(Element::U8), pb = b.pointer(Element::U8),
              psb = b.pointer(Element::U8), pc = b.pointer(Element::F32);
  auto shuffled = [&](ir::ValueId p) {
    ir::ValueId parts = b.reshape(b.load_tile(p, {1, 256}), {1, 1, 4, 16, 2, 2});
    return b.reshape(b.permute(parts, {0, 5, 3, 1, 4, 2}), {32, 8});
  };
  ir::ValueId a = b.load_tile(pa, {32, 128}), right = b.permute(b.load_tile(pb, {32, 128}), {1, 0});
  b.store_tile(pc,
               b.dot_scaled({a, shuffled(psa), ir::Format::E2M1}, {right, shuffled(psb), ir::Format::E2M1}));
  ir::Function function = b.done();
  Random random(8);
  expect_same(function, {1, 1, 1},
              {buffer(random.bits<uint8_t>(32 * 128)), buffer(scales(256, 3)),
               buffer(random.bits<uint8_t>(32 * 128)), buffer(scales(256, 4)),
               buffer(std::vector<float>(1024))},
              {{4, Element::F32}});
  std::string text = assembly(function);
  EXPECT_EQ(text.find("_load_ubyte"), std::string::npos);
  EXPECT_EQ(text.find("v_perm_b32"), std::string::npos);
  EXPECT_NE(text.find("op_sel:[1,"), std::string::npos);
}

void check_quantize(Element element, ir::ScaleRule rule, int64_t m, int64_t k, int waves,
                    const Argument &values, ir::Format format = ir::Format::E2M1) {
  KernelBuilder b(waves);
  ir::ValueId px = b.pointer(element), pc = b.pointer(Element::U8), ps = b.pointer(Element::U8);
  auto [codes, scale] = b.quantize(b.load_tile(px, {m, k}), format, rule);
  b.store_tile(pc, codes);
  b.store_tile(ps, scale);
  expect_same(b.done(), {1, 1, 1},
              {values, buffer(std::vector<uint8_t>(m * k * ir::facts(format).bits / 8)),
               buffer(std::vector<uint8_t>(m * k / 32))});
}

TEST(LowerQuantize, EveryRuleElementAndShape) {
  for (ir::ScaleRule rule : {ir::ScaleRule::Even, ir::ScaleRule::Floor, ir::ScaleRule::Ceil})
    for (auto [m, k] : {std::pair<int64_t, int64_t>{16, 256}, {1, 32}, {4, 64}, {32, 256}})
      for (int waves : {1, 4}) {
        Random random(static_cast<uint64_t>(m * k));
        check_quantize(Element::BF16, rule, m, k, waves, buffer(random.bf16_normals(m * k)));
        check_quantize(Element::F32, rule, m, k, waves, buffer(random.normals(m * k)));
      }
}

TEST(LowerQuantize, EveryFormatRuleAndElement) {
  for (ir::Format format : {ir::Format::E2M3, ir::Format::E3M2, ir::Format::E4M3, ir::Format::E5M2})
    for (ir::ScaleRule rule : {ir::ScaleRule::Even, ir::ScaleRule::Floor, ir::ScaleRule::Ceil}) {
      Random random(3);
      check_quantize(Element::BF16, rule, 4, 256, 1, buffer(random.bf16_normals(1024)), format);
      check_quantize(Element::F32, rule, 16, 64, 4, buffer(random.normals(1024)), format);
      check_quantize(Element::F16, rule, 1, 32, 2, buffer(random.bits<uint16_t>(32)), format);
      // Any bits, as neighbours of one exponent: largest values, NaN and infinity, subnormal ones.
      std::vector<uint32_t> bits = random.bits<uint32_t>(8192);
      for (size_t i = 0; i < bits.size(); ++i)
        bits[i] = (bits[i] & 0x81ffffff) | static_cast<uint32_t>(i / 32) << 23;
      check_quantize(Element::F32, rule, 32, 256, 4, buffer(bits), format);
    }
}

TEST(LowerQuantize, OddFactors) {
  for (auto [m, k] : {std::pair<int64_t, int64_t>{48, 256}, {3, 32}, {5, 96}, {16, 448}, {48, 96}})
    for (int waves : {1, 4}) {
      Random random(static_cast<uint64_t>(m * k));
      for (ir::Format format : {ir::Format::E2M1, ir::Format::E3M2, ir::Format::E4M3})
        check_quantize(Element::BF16, ir::ScaleRule::Even, m, k, waves, buffer(random.bf16_normals(m * k)),
                       format);
    }
}

/// Tiles of fewer groups than lanes: two or four lanes have a group.
TEST(LowerQuantize, GroupsThatLanesShare) {
  for (auto [m, k] :
       {std::pair<int64_t, int64_t>{1, 512}, {1, 1024}, {2, 256}, {1, 3072}, {1, 1536}, {1, 64}})
    for (int waves : {1, 2, 4})
      for (ir::Format format : {ir::Format::E2M1, ir::Format::E5M2}) {
        Random random(static_cast<uint64_t>(m * k + waves));
        check_quantize(Element::BF16, ir::ScaleRule::Even, m, k, waves, buffer(random.bits<uint16_t>(m * k)),
                       format);
        check_quantize(Element::F32, ir::ScaleRule::Ceil, m, k, waves, buffer(random.normals(m * k)), format);
      }
}

TEST(LowerQuantize, OneValueForAll) {
  KernelBuilder b(1);
  ir::ValueId x = b.scalar_argument(Element::F32), pc = b.pointer(Element::U8), ps = b.pointer(Element::U8);
  auto [codes, scale] = b.quantize(b.broadcast(x, {8, 32}), ir::Format::E2M1, ir::ScaleRule::Even);
  b.store_tile(pc, codes);
  b.store_tile(ps, scale);
  ir::Function function = b.done();
  for (float value : {1.0F, -3.5F, 0.0F, 0x1p-126F, 0x1p-140F, 0x1.cp127F, INFINITY, NAN})
    expect_same(function, {1, 1, 1},
                {f32(value), buffer(std::vector<uint8_t>(128)), buffer(std::vector<uint8_t>(8))});
}

TEST(LowerQuantize, ConstantsThatOnlyLlvmSees) {
  // A comparison that always holds chooses between two constants.
  for (Element element : {Element::BF16, Element::F16, Element::F32})
    for (ir::Format format : {ir::Format::E2M1, ir::Format::E4M3}) {
      KernelBuilder b(1);
      ir::ValueId pc = b.pointer(Element::U8), ps = b.pointer(Element::U8);
      ir::ValueId i = b.offsets({8, 32});
      ir::ValueId holds = b.binary(Opcode::Ge, b.binary(Opcode::And, i, b.number(255)), b.number(0));
      ir::ValueId x = b.where(holds, b.cast(b.integer(Element::I32, 1, {8, 32}), element),
                              b.cast(b.integer(Element::I32, 3, {8, 32}), element));
      auto [codes, scale] = b.quantize(x, format, ir::ScaleRule::Even);
      b.store_tile(pc, codes);
      b.store_tile(ps, scale);
      expect_same(b.done(), {1, 1, 1},
                  {buffer(std::vector<uint8_t>(8 * 32 * ir::facts(format).bits / 8)),
                   buffer(std::vector<uint8_t>(8))});
    }
}

TEST(LowerQuantize, EveryFiniteAndSpecialBf16) {
  // Each pattern with neighbours of its own exponent, and alone among zeros.
  std::vector<uint16_t> near(1 << 16), alone((1 << 16) * 32 / 32);
  for (size_t bits = 0; bits < near.size(); ++bits)
    near[bits] = static_cast<uint16_t>(bits);
  KernelBuilder b(4);
  ir::ValueId px = b.pointer(Element::BF16), pc = b.pointer(Element::U8), ps = b.pointer(Element::U8);
  ir::ValueId first = b.mul(b.program_id(0), b.number(4096));
  auto [codes, scale] = b.quantize(b.load(b.ptr_add(b.ptr_add(px, first), b.offsets({16, 256})), {}, {}, ""),
                                   ir::Format::E2M1, ir::ScaleRule::Even);
  b.store(b.ptr_add(b.ptr_add(pc, b.mul(b.program_id(0), b.number(2048))), b.offsets({16, 128})), codes, {},
          "");
  b.store(b.ptr_add(b.ptr_add(ps, b.mul(b.program_id(0), b.number(128))), b.offsets({16, 8})), scale, {}, "");
  ir::Function function = b.done();
  for (size_t i = 0; i < alone.size(); ++i)
    alone[i] = i % 32 == (i / 32) % 32 ? static_cast<uint16_t>(i / 32 * 32) : 0;
  for (const std::vector<uint16_t> &values : {near, alone})
    expect_same(
        function, {16, 1, 1},
        {buffer(values), buffer(std::vector<uint8_t>(1 << 15)), buffer(std::vector<uint8_t>(1 << 11))});
}

TEST(LowerQuantize, FeedsAProductWithoutLeavingTheLane) {
  KernelBuilder b(1);
  ir::ValueId px = b.pointer(Element::BF16), pb = b.pointer(Element::U8), psb = b.pointer(Element::U8),
              pc = b.pointer(Element::F32);
  auto [codes, scale] = b.quantize(b.load_tile(px, {16, 256}), ir::Format::E2M1, ir::ScaleRule::Even);
  ir::ValueId right = b.permute(b.load_tile(pb, {16, 128}), {1, 0}), sb = b.load_tile(psb, {16, 8});
  b.store_tile(pc, b.dot_scaled({codes, scale, ir::Format::E2M1}, {right, sb, ir::Format::E2M1}));
  ir::Function function = b.done();
  std::string text = assembly(function);
  for (const char *unwanted : {"ds_read", "ds_write", "ds_bpermute", "permlane", "s_barrier", "dpp"})
    EXPECT_EQ(text.find(unwanted), std::string::npos) << unwanted;
  Random random(9);
  expect_same(function, {1, 1, 1},
              {buffer(random.bf16_normals(16 * 256)), buffer(random.bits<uint8_t>(16 * 128)),
               buffer(scales(128, 5)), buffer(std::vector<float>(256))},
              {{3, Element::F32, 64}});
}

} // namespace
} // namespace nereid::codegen::testing
