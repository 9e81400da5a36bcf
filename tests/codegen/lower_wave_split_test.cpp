#include <array>

#include <gtest/gtest.h>

#include "tests/codegen/lower_harness.h"

namespace nereid::codegen::testing {
namespace {

using ir::Element;
using ir::WaveSplit;

/// Whole numbers from -4 to 4 as bf16, so that every order of summing gives the same.
std::vector<uint16_t> small_numbers(size_t count, uint64_t seed) {
  static constexpr uint16_t bf16[] = {0xc080, 0xc040, 0xc000, 0xbf80, 0, 0x3f80, 0x4000, 0x4040, 0x4080};
  Random random(seed);
  std::vector<uint16_t> values(count);
  for (uint16_t &value : values)
    value = bf16[random.next() % 9];
  return values;
}

enum class Epilogue { Store, Masked, Atomic };

struct Case {
  int64_t m = 16, n = 64;
  int waves = 4;
  bool starts_at_zero = true;
  Epilogue epilogue = Epilogue::Store;
  WaveSplit split = WaveSplit::K;
};

constexpr int64_t block_k = 32;
constexpr int max_iterations = 9;

/// c (+)= a b^T with a [m, k], b [n, k] of bf16; arguments a, b, c, first k, last k, step.
ir::Function product(const Case &c) {
  KernelBuilder b(c.waves);
  b.options().wave_split = c.split;
  ir::ValueId pa = b.pointer(Element::BF16), pb = b.pointer(Element::BF16), pc = b.pointer(Element::F32);
  ir::ValueId first = b.scalar_argument(Element::I32, block_k), last = b.scalar_argument(Element::I32),
              step = b.scalar_argument(Element::I32, block_k);
  const ir::ValueId start[] = {c.starts_at_zero ? b.constant(ir::Type::tile(Element::F32, {c.m, c.n}), 0)
                                                : b.load_tile(pc, {c.m, c.n})};
  ir::Builder::Loop loop = b.begin_for(first, last, step, 1, start);
  // A round's tiles lie one after another: its tile of a begins at m k.
  ir::ValueId a = b.load_tile(b.ptr_add(pa, b.mul(loop.index, b.number(c.m))), {c.m, block_k});
  ir::ValueId right = b.load_tile(b.ptr_add(pb, b.mul(loop.index, b.number(c.n))), {c.n, block_k});
  const ir::ValueId next[] = {b.add(loop.carried[0], b.dot(a, b.permute(right, {1, 0})))};
  ir::ValueId sum = b.end_for(next)[0];
  ir::ValueId offsets = b.offsets({c.m, c.n});
  ir::ValueId pointers = b.ptr_add(pc, offsets);
  ir::ValueId limit = b.integer(Element::I32, c.m * c.n - 7, {c.m, c.n});
  ir::ValueId mask = b.binary(ir::Opcode::Lt, offsets, limit);
  switch (c.epilogue) {
  case Epilogue::Store:
    b.store(pointers, sum, {}, "");
    break;
  case Epilogue::Masked:
    b.store(pointers, sum, mask, "");
    break;
  case Epilogue::Atomic:
    b.atomic(ir::Opcode::AtomicAdd, pointers, std::array{sum}, mask, "relaxed", "device");
    break;
  }
  return b.done();
}

void check(const Case &c, int first_iteration, int last_iteration, int64_t step = block_k) {
  SCOPED_TRACE(::testing::Message() << c.m << "x" << c.n << ", " << c.waves << " waves, rounds "
                                    << first_iteration << " to " << last_iteration);
  std::vector<float> start(c.m * c.n);
  for (size_t i = 0; i < start.size(); ++i)
    start[i] = static_cast<float>(i % 50) - 20;
  expect_same(product(c), {1, 1, 1},
              {buffer(small_numbers(c.m * block_k * max_iterations, 1)),
               buffer(small_numbers(c.n * block_k * max_iterations, 2)), buffer(start),
               i32(first_iteration * block_k), i32(last_iteration * block_k), i32(step)},
              {{2, Element::F32}});
}

TEST(WaveSplit, EveryNumberOfRoundsAndWaves) {
  for (int waves : {2, 4, 8})
    for (int iterations : {0, 1, 2, 3, 5, 9})
      check({.waves = waves}, 0, iterations);
}

TEST(WaveSplit, ShapesOfTheTile) {
  for (auto [m, n] :
       {std::pair<int64_t, int64_t>{16, 16}, {32, 32}, {16, 128}, {4, 16}, {64, 32}, {16, 48}, {48, 80}})
    for (int waves : {2, 4})
      check({.m = m, .n = n, .waves = waves}, 1, 6);
}

TEST(WaveSplit, TheFirstAddendCountsOnce) {
  for (int waves : {2, 8})
    for (int iterations : {0, 1, 5})
      check({.waves = waves, .starts_at_zero = false}, 0, iterations);
}

TEST(WaveSplit, Epilogues) {
  for (Epilogue epilogue : {Epilogue::Masked, Epilogue::Atomic})
    for (auto [m, n] : {std::pair<int64_t, int64_t>{16, 64}, {32, 16}})
      check({.m = m, .n = n, .epilogue = epilogue}, 0, 3);
}

TEST(WaveSplit, TwoSumsOfOneLoop) {
  KernelBuilder b(4);
  b.options().wave_split = WaveSplit::K;
  ir::ValueId px = b.pointer(Element::BF16), pc = b.pointer(Element::F32), pd = b.pointer(Element::F32);
  ir::ValueId last = b.scalar_argument(Element::I32);
  ir::ValueId zero = b.constant(ir::Type::tile(Element::F32, {16, 16}), 0);
  const ir::ValueId start[] = {zero, b.load_tile(pd, {16, 16})};
  ir::Builder::Loop loop = b.begin_for(b.number(0), last, b.number(1), 1, start);
  ir::ValueId x = b.load_tile(b.ptr_add(px, b.mul(loop.index, b.number(16 * 32))), {16, 32});
  ir::ValueId square = b.dot(x, b.permute(x, {1, 0}));
  ir::ValueId other = b.dot(b.load_tile(px, {16, 32}), b.permute(x, {1, 0}));
  const ir::ValueId next[] = {b.add(square, loop.carried[0]), b.add(b.add(loop.carried[1], other), square)};
  std::vector<ir::ValueId> accumulators = b.end_for(next);
  b.store_tile(pc, accumulators[0]);
  b.store_tile(pd, accumulators[1]);
  std::vector<float> d(256);
  for (size_t i = 0; i < d.size(); ++i)
    d[i] = static_cast<float>(i);
  expect_same(b.done(), {1, 1, 1},
              {buffer(small_numbers(16 * 32 * 6, 3)), buffer(std::vector<float>(256)), buffer(d), i32(6)},
              {{1, Element::F32}, {2, Element::F32}});
}

TEST(WaveSplit, StepsBeyondTheLastAreNotTaken) {
  for (int64_t step : {int64_t(1) << 29, int64_t(1) << 30, int64_t(0x7fffffe0)})
    check({.waves = 8}, 0, 5, step);
}

TEST(WaveSplit, OthersThanK) {
  for (WaveSplit split : {WaveSplit::Auto, WaveSplit::N, WaveSplit::Mn})
    check({.m = 32, .n = 64, .split = split}, 0, 3);
}

TEST(WaveSplit, ABodyThatNeedsOtherWavesIsNotDealt) {
  // The tile from outside lies across the waves; what is made of it in the body comes before the product.
  KernelBuilder b(4);
  ir::ValueId px = b.pointer(Element::I32), pb = b.pointer(Element::BF16), pc = b.pointer(Element::F32);
  ir::ValueId last = b.scalar_argument(Element::I32);
  ir::ValueId outside = b.reshape(b.load_tile(px, {32, 16}), {16, 32});
  const ir::ValueId start[] = {b.constant(ir::Type::tile(Element::F32, {16, 16}), 0)};
  ir::Builder::Loop loop = b.begin_for(b.number(0), last, b.number(1), 1, start);
  ir::ValueId low = b.binary(ir::Opcode::And, outside, b.integer(Element::I32, 7, {16, 32}));
  ir::ValueId right = b.load_tile(b.ptr_add(pb, b.mul(loop.index, b.number(16 * 32))), {16, 32});
  const ir::ValueId next[] = {
      b.add(loop.carried[0], b.dot(b.cast(low, Element::BF16), b.permute(right, {1, 0})))};
  b.store_tile(pc, b.end_for(next)[0]);
  Random random(4);
  expect_same(b.done(), {1, 1, 1},
              {buffer(random.bits<int32_t>(512)), buffer(small_numbers(16 * 32 * 3, 3)),
               buffer(std::vector<float>(256)), i32(3)},
              {{2, Element::F32}});
}

TEST(WaveSplit, ABodyThatTakesAnElementFromOneWaveIsNotDealt) {
  KernelBuilder b(4);
  ir::ValueId px = b.pointer(Element::I32), pb = b.pointer(Element::BF16), pc = b.pointer(Element::F32);
  ir::ValueId last = b.scalar_argument(Element::I32);
  ir::ValueId element = b.load_tile(px, {256});
  for (int64_t size = 128; size >= 1; size /= 2)
    element = b.split(b.reshape(element, {size, 2})).second;
  const ir::ValueId start[] = {b.constant(ir::Type::tile(Element::F32, {16, 16}), 0)};
  ir::Builder::Loop loop = b.begin_for(b.number(0), last, b.number(1), 1, start);
  ir::ValueId low = b.binary(ir::Opcode::And, b.reshape(element, {}), b.number(7));
  ir::ValueId left = b.cast(b.broadcast(low, {16, 32}), Element::BF16);
  ir::ValueId right = b.load_tile(b.ptr_add(pb, b.mul(loop.index, b.number(16 * 32))), {16, 32});
  const ir::ValueId next[] = {b.add(loop.carried[0], b.dot(left, b.permute(right, {1, 0})))};
  b.store_tile(pc, b.end_for(next)[0]);
  Random random(5);
  expect_same(b.done(), {1, 1, 1},
              {buffer(random.bits<int32_t>(256)), buffer(small_numbers(16 * 32 * 3, 3)),
               buffer(std::vector<float>(256)), i32(3)},
              {{2, Element::F32}});
}

/// The loop's part of an assembler text: from its label to the branch back.
std::string loop_of(const std::string &text) {
  size_t product = text.find("v_mfma");
  size_t begin = text.rfind("\n.LBB", product);
  std::string label = text.substr(begin + 1, text.find(':', begin) - begin - 1);
  size_t branch = begin;
  for (size_t at = text.find("s_cbranch", begin); at != std::string::npos;
       at = text.find("s_cbranch", at + 1))
    if (text.substr(at, text.find('\n', at) - at).ends_with(label))
      branch = at;
  return text.substr(begin, branch - begin);
}

TEST(WaveSplit, NoBarrierInTheLoop) {
  for (WaveSplit split : {WaveSplit::K, WaveSplit::Auto}) {
    std::string text = assembly(product({.split = split}));
    std::string loop = loop_of(text);
    EXPECT_NE(loop.find("v_mfma"), std::string::npos);
    for (const char *unwanted : {"s_barrier", "ds_read", "ds_write"})
      EXPECT_EQ(loop.find(unwanted), std::string::npos) << unwanted;
    EXPECT_NE(text.find("s_barrier"), std::string::npos);
  }
  EXPECT_EQ(assembly(product({.split = WaveSplit::N})).find("s_barrier"), std::string::npos);
}

TEST(WaveSplit, KNamesWhatIsInItsWay) {
  {
    KernelBuilder b(4);
    b.options().wave_split = WaveSplit::K;
    ir::ValueId x = b.pointer(Element::F32);
    b.store_tile(x, b.constant(ir::Type::tile(Element::F32, {16, 16}), 0));
    Error error = compile_error(b.done());
    EXPECT_EQ(error.owner, Owner::User);
    EXPECT_EQ(error.message, "wave_split=k has no loop whose iterations it could split over the waves");
  }
  KernelBuilder b(4);
  b.options().wave_split = WaveSplit::K;
  ir::ValueId x = b.pointer(Element::F32), n = b.scalar_argument(Element::I32);
  const ir::ValueId start[] = {b.constant(ir::Type::tile(Element::F32, {16, 16}), 0)};
  b.set_location({"kernel.cpp", 9});
  ir::Builder::Loop loop = b.begin_for(b.number(0), n, b.number(1), 1, start);
  const ir::ValueId next[] = {b.add(loop.carried[0], b.load_tile(x, {16, 16}))};
  b.store_tile(x, b.end_for(next)[0]);
  Error error = compile_error(b.done());
  EXPECT_EQ(error.owner, Owner::User);
  EXPECT_EQ(error.message, "wave_split=k cannot split the iterations of this loop over the waves: it carries "
                           "a value, f32[16, 16], "
                           "that is not only a sum of dots");
  EXPECT_EQ(error.where.line, 9u);
  EXPECT_FALSE(error.remedy.empty());
}

} // namespace
} // namespace nereid::codegen::testing
