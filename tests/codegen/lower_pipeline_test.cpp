#include <limits>
#include <numeric>

#include <gtest/gtest.h>

#include "tests/codegen/lower_harness.h"

namespace nereid::codegen::testing {
namespace {

using ir::Element;
using ir::Opcode;

size_t count(const std::string &text, const std::string &part) {
  size_t result = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++result;
  return result;
}

/// z = the sum over k of x[k * 256 + i] as i32; k from first to last by step.
struct RowSum {
  explicit RowSum(int waves) : b(waves) {}

  KernelBuilder b;
  ir::ValueId x = b.pointer(Element::I32), z = b.pointer(Element::I32);
  ir::ValueId first = b.scalar_argument(Element::I32), last = b.scalar_argument(Element::I32),
              step = b.scalar_argument(Element::I32);
  std::vector<ir::ValueId> inits;

  ir::Builder::Loop begin(int stages) {
    inits = {b.constant(ir::Type::tile(Element::I32, {256}), 0)};
    return b.begin_for(first, last, step, stages, inits);
  }
  ir::Function end(ir::ValueId sum) {
    const ir::ValueId next[] = {sum};
    b.store_tile(z, b.end_for(next)[0]);
    return b.done();
  }
};

ir::Function row_sum(int waves, int stages) {
  RowSum kernel(waves);
  KernelBuilder &b = kernel.b;
  ir::Builder::Loop loop = kernel.begin(stages);
  ir::ValueId at = b.add(b.mul(loop.index, b.number(256)), b.arange(0, 256));
  return kernel.end(b.add(loop.carried[0], b.load(b.ptr_add(kernel.x, at), {}, {}, "")));
}

std::vector<Argument> rows(int count, int first, int last, int step) {
  std::vector<int32_t> x(count * 256);
  std::iota(x.begin(), x.end(), 17);
  return {buffer(x), buffer(std::vector<int32_t>(256, -1)), i32(first), i32(last), i32(step)};
}

TEST(LowerPipeline, AnyNumberOfRoundsAtAnyDepth) {
  for (int stages : {1, 2, 3, 4}) {
    const ir::Function kernel = row_sum(2, stages);
    for (int last : {0, 1, 2, 3, 4, 5, 6, 7, 8})
      expect_same(kernel, {1, 1, 1}, rows(8, 0, last, 1));
  }
}

TEST(LowerPipeline, StepsThatDoNotEndAtTheLoopsEndAndNegativeStarts) {
  const ir::Function kernel = row_sum(1, 3);
  for (const auto &[first, last, step] :
       {std::array{0, 8, 3}, std::array{1, 8, 2}, std::array{7, 8, 5}, std::array{5, 3, 1}})
    expect_same(kernel, {1, 1, 1}, rows(8, first, last, step));
}

TEST(LowerPipeline, StepsBeyondTheLargestNumberEndTheLoop) {
  constexpr int32_t most = std::numeric_limits<int32_t>::max();
  const ir::Function kernel = row_sum(1, 4);
  for (int step : {most, most / 2, most / 4, most / 8})
    expect_same(kernel, {1, 1, 1}, rows(2, 1, 2, step));
  // The rounds lie 2^29 apart and read x[round >> 29].
  RowSum far(1);
  KernelBuilder &b = far.b;
  ir::Builder::Loop loop = far.begin(3);
  ir::ValueId row = b.binary(Opcode::Shr, loop.index, b.number(29));
  ir::ValueId at = b.add(b.mul(row, b.number(256)), b.arange(0, 256));
  const ir::Function function = far.end(b.add(loop.carried[0], b.load(b.ptr_add(far.x, at), {}, {}, "")));
  expect_same(function, {1, 1, 1}, rows(4, 0, most, 1 << 29));
}

TEST(LowerPipeline, MaskedLoadsGiveTheirOtherValues) {
  for (int stages : {1, 2, 3})
    for (bool with_other : {false, true}) {
      RowSum kernel(1);
      KernelBuilder &b = kernel.b;
      ir::Builder::Loop loop = kernel.begin(stages);
      ir::ValueId i = b.arange(0, 256);
      ir::ValueId at = b.add(b.mul(loop.index, b.number(256)), i);
      ir::ValueId mask = b.binary(Opcode::Lt, at, b.number(1000));
      std::optional<ir::ValueId> other;
      if (with_other)
        other = i;
      ir::ValueId loaded = b.load(b.ptr_add(kernel.x, at), mask, other, "");
      const ir::Function function = kernel.end(b.add(loop.carried[0], loaded));
      for (int last : {3, 4, 6})
        expect_same(function, {1, 1, 1}, rows(4, 0, last, 1));
    }
}

TEST(LowerPipeline, LoadsThatFollowFromLoadsWaitForThem) {
  // z += x[x[k * 256 + i] % 256]: the second load is not known a round ahead.
  for (int stages : {2, 3}) {
    RowSum kernel(4);
    KernelBuilder &b = kernel.b;
    ir::Builder::Loop loop = kernel.begin(stages);
    ir::ValueId at = b.add(b.mul(loop.index, b.number(256)), b.arange(0, 256));
    ir::ValueId found = b.load(b.ptr_add(kernel.x, at), {}, {}, "");
    ir::ValueId inner = b.binary(Opcode::And, found, b.number(255));
    const ir::Function function =
        kernel.end(b.add(loop.carried[0], b.load(b.ptr_add(kernel.x, inner), {}, {}, "")));
    expect_same(function, {1, 1, 1}, rows(5, 0, 5, 1));
  }
}

TEST(LowerPipeline, OffsetsThatMayBeNegativeGoThroughPlainAddresses) {
  // Offsets k * stride + i of unknown sign, with and without a mask.
  for (bool masked : {false, true}) {
    KernelBuilder b(1);
    ir::ValueId x = b.pointer(Element::I32), z = b.pointer(Element::I32);
    ir::ValueId stride = b.scalar_argument(Element::I32), n = b.scalar_argument(Element::I32);
    const ir::ValueId inits[] = {b.constant(ir::Type::tile(Element::I32, {64}), 0)};
    ir::Builder::Loop loop = b.begin_for(b.number(0), n, b.number(1), 2, inits);
    ir::ValueId i = b.arange(0, 64);
    ir::ValueId at = b.add(b.add(b.mul(i, stride), loop.index), b.number(255));
    std::optional<ir::ValueId> mask;
    if (masked)
      mask = b.binary(Opcode::Ge, at, b.number(100));
    const ir::ValueId next[] = {b.add(loop.carried[0], b.load(b.ptr_add(x, at), mask, {}, ""))};
    b.store_tile(z, b.end_for(next)[0]);
    const ir::Function function = b.done();
    std::vector<int32_t> values(512);
    std::iota(values.begin(), values.end(), 5);
    for (int way : {-4, -1, 1, 3})
      expect_same(function, {1, 1, 1}, {buffer(values), buffer(std::vector<int32_t>(64)), i32(way), i32(5)});
  }
}

TEST(LowerPipeline, SeveralLoadsAndCarriedValuesOfEveryWidth) {
  for (Element element : {Element::U8, Element::BF16, Element::F32, Element::I64}) {
    KernelBuilder b(2);
    ir::ValueId x = b.pointer(element), y = b.pointer(element), z = b.pointer(element);
    ir::ValueId n = b.scalar_argument(Element::I64);
    const ir::Type tile = ir::Type::tile(element, {16, 32});
    const ir::ValueId inits[] = {b.constant(tile, 0), b.constant(tile, 0)};
    ir::Builder::Loop loop = b.begin_for(b.integer(Element::I64, 0), n, b.integer(Element::I64, 1), 2, inits);
    ir::ValueId round = b.mul(loop.index, b.integer(Element::I64, 512));
    ir::ValueId offsets = b.offsets({16, 32});
    ir::ValueId left = b.load(b.ptr_add(b.ptr_add(x, round), offsets), {}, {}, "");
    ir::ValueId right = b.load(b.ptr_add(b.ptr_add(y, round), offsets), {}, {}, "stream");
    const ir::ValueId next[] = {b.add(loop.carried[1], left), b.add(loop.carried[0], right)};
    std::vector<ir::ValueId> accumulators = b.end_for(next);
    b.store_tile(z, b.add(accumulators[0], accumulators[1]));
    const ir::Function function = b.done();
    Random random(5);
    std::vector<uint8_t> data = random.bits<uint8_t>(4 * 512 * ir::byte_size(element));
    std::vector<FloatBuffer> floats;
    if (ir::is_float(element)) {
      data = std::vector<uint8_t>(data.size(), 0x3f);
      floats = {{2, element, 0}};
    }
    for (int64_t last : {0, 1, 3, 4})
      expect_same(function, {1, 1, 1},
                  {buffer(data), buffer(data), {Bytes(512 * ir::byte_size(element))}, i64(last)}, floats);
  }
}

TEST(LowerPipeline, LoopsThatWriteMemoryKeepTheirOrder) {
  // x[(k + 1) * 64 + i] = x[k * 64 + i] + 1: each round reads what the last one wrote.
  KernelBuilder b(1);
  ir::ValueId x = b.pointer(Element::I32), n = b.scalar_argument(Element::I32);
  ir::Builder::Loop loop = b.begin_for(b.number(0), n, b.number(1), 3, {});
  ir::ValueId at = b.add(b.mul(loop.index, b.number(64)), b.arange(0, 64));
  ir::ValueId value = b.load(b.ptr_add(x, at), {}, {}, "");
  b.store(b.ptr_add(x, b.add(at, b.number(64))), b.add(value, b.number(1)), {}, "");
  b.end_for({});
  expect_same(b.done(), {1, 1, 1}, {buffer(std::vector<int32_t>(6 * 64, 3)), i32(5)});
}

TEST(LowerPipeline, LoadsStandInEachCopyOfTheBodyAndBeforeTheLoop) {
  // One load a round: two before the loop, two in it; no wait for everything in the loop.
  const std::string text = assembly(row_sum(4, 2));
  EXPECT_EQ(count(text, "buffer_load_dword "), 4u) << text;
  EXPECT_EQ(count(assembly(row_sum(4, 1)), "buffer_load_dword "), 1u);
}

} // namespace
} // namespace nereid::codegen::testing
