#include <cmath>

#include <gtest/gtest.h>

#include "dsl/interpreter/numbers.h"
#include "tests/codegen/lower_harness.h"

namespace nereid::codegen::testing {
namespace {

using ir::Element;
using ir::Opcode;

/// Small whole numbers: every partial sum is exact, and equal values occur.
Argument whole_numbers(Element element, int64_t count) {
  Random random(static_cast<uint64_t>(count));
  Bytes bytes(count * ir::byte_size(element));
  for (int64_t i = 0; i < count; ++i) {
    auto value =
        static_cast<int64_t>(random.next() % 16) - (ir::is_signed(element) || ir::is_float(element) ? 8 : 0);
    uint64_t bits = static_cast<uint64_t>(value);
    if (element == Element::F32)
      bits = std::bit_cast<uint32_t>(static_cast<float>(value));
    if (element == Element::F64)
      bits = std::bit_cast<uint64_t>(static_cast<double>(value));
    if (element == Element::BF16)
      bits = interpreter::bf16_bits(static_cast<float>(value));
    std::memcpy(bytes.data() + i * ir::byte_size(element), &bits, ir::byte_size(element));
  }
  return {bytes};
}

void check(Opcode opcode, Element element, const ir::Shape &shape, int axis, int waves) {
  KernelBuilder b(waves);
  ir::ValueId x = b.pointer(element), z = b.pointer(opcode == Opcode::ArgMax ? Element::I32 : element);
  b.store_tile(z, b.reduce(opcode, b.load_tile(x, shape), axis, false));
  int64_t results = shape[1 - axis];
  expect_same(b.done(), {1, 1, 1}, {whole_numbers(element, shape[0] * shape[1]), {Bytes(results * 8)}});
}

TEST(LowerReduce, EveryOperationInLanesAndAcrossThem) {
  for (Opcode opcode : {Opcode::ReduceMax, Opcode::ReduceMin, Opcode::ReduceSum, Opcode::ArgMax})
    for (Element element :
         {Element::F32, Element::F64, Element::BF16, Element::I32, Element::U8, Element::I64})
      for (int axis : {0, 1}) {
        check(opcode, element, {16, 64}, axis, 1);
        check(opcode, element, {16, 64}, axis, 4);
      }
}

TEST(LowerReduce, EveryShape) {
  for (const ir::Shape &shape : {ir::Shape{1, 1024}, {1024, 1}, {2, 2}, {4, 256}, {64, 16}, {128, 8}})
    for (int axis : {0, 1})
      for (int waves : {1, 2, 8}) {
        check(Opcode::ReduceSum, Element::F32, shape, axis, waves);
        check(Opcode::ArgMax, Element::I32, shape, axis, waves);
      }
}

TEST(LowerReduce, OddFactors) {
  for (const ir::Shape &shape : {ir::Shape{48, 16}, {6, 160}, {3, 7}, {7, 192}, {80, 3}})
    for (int axis : {0, 1})
      for (int waves : {1, 4}) {
        check(Opcode::ReduceSum, Element::F32, shape, axis, waves);
        check(Opcode::ReduceMin, Element::BF16, shape, axis, waves);
        check(Opcode::ReduceMax, Element::F64, shape, axis, waves);
        check(Opcode::ArgMax, Element::I32, shape, axis, waves);
      }
}

void check_cumsum(Element element, const ir::Shape &shape, int axis, int waves, bool transposed = false) {
  SCOPED_TRACE(::testing::Message() << ir::text(shape) << ", axis " << axis << ", " << waves << " waves");
  KernelBuilder b(waves);
  ir::ValueId x = b.pointer(element), z = b.pointer(element);
  ir::ValueId tile = b.load_tile(x, shape);
  if (transposed)
    tile = b.permute(tile, {1, 0});
  b.store_tile(z, b.cumsum(tile, axis));
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  expect_same(b.done(), {1, 1, 1}, {whole_numbers(element, count), {Bytes(count * ir::byte_size(element))}});
}

TEST(LowerCumsum, EveryElement) {
  for (Element element :
       {Element::F32, Element::F64, Element::BF16, Element::I8, Element::U16, Element::I32, Element::I64})
    for (int axis : {0, 1})
      check_cumsum(element, {16, 128}, axis, 4);
}

TEST(LowerCumsum, EveryPlaceOfTheAxis) {
  for (const ir::Shape &shape : {ir::Shape{1, 1024}, {1024, 1}, {2, 2}, {4, 256}, {64, 16}})
    for (int axis : {0, 1})
      for (int waves : {1, 2, 8})
        for (bool transposed : {false, true})
          check_cumsum(Element::F32, shape, axis, waves, transposed);
  for (int64_t size : {1, 32, 64, 2048})
    check_cumsum(Element::I32, {size}, 0, 4);
}

TEST(LowerCumsum, OddFactors) {
  for (const ir::Shape &shape : {ir::Shape{48, 16}, {6, 160}, {3, 7}, {5, 192}, {112, 3}})
    for (int axis : {0, 1})
      for (int waves : {1, 4})
        for (bool transposed : {false, true})
          check_cumsum(Element::F32, shape, axis, waves, transposed);
  for (int64_t size : {3, 96, 1792})
    check_cumsum(Element::I32, {size}, 0, 4);
}

TEST(LowerReduce, NanWinsMaximumAndIsFoundFirst) {
  KernelBuilder b(2);
  ir::ValueId x = b.pointer(Element::F32), z = b.pointer(Element::F32), at = b.pointer(Element::I32);
  ir::ValueId tile = b.load_tile(x, {2, 256});
  b.store_tile(z, b.reduce(Opcode::ReduceMax, tile, 1, false));
  b.store_tile(at, b.reduce(Opcode::ArgMax, tile, 1, false));
  std::vector<float> values(512, 1.0f);
  values[77] = values[200] = NAN;
  values[256 + 9] = values[256 + 130] = INFINITY;
  ir::Function function = b.done();
  Result<Outcome> outcome = run_compiled(
      function, {1, 1, 1}, {buffer(values), buffer(std::vector<float>(2)), buffer(std::vector<int32_t>(2))});
  ASSERT_TRUE(outcome.ok()) << outcome.error().text();
  EXPECT_TRUE(std::isnan(outcome->values<float>(1)[0]));
  EXPECT_EQ(outcome->values<float>(1)[1], INFINITY);
  EXPECT_EQ(outcome->values<int32_t>(2), (std::vector<int32_t>{77, 9}));
}

TEST(LowerReduce, AnyAndScalars) {
  for (int waves : {1, 4}) {
    KernelBuilder b(waves);
    ir::ValueId x = b.pointer(Element::I32), z = b.pointer(Element::I1), total = b.pointer(Element::I32);
    ir::ValueId tile = b.load_tile(x, {16, 64});
    b.store_tile(z, b.reduce(Opcode::ReduceAny, b.binary(Opcode::Gt, tile, b.number(500)), 1, false));
    ir::ValueId sum = b.reduce(Opcode::ReduceSum, b.reduce(Opcode::ReduceSum, tile, 0, false), 0, false);
    b.store(total, sum, {}, "");
    std::vector<int32_t> values(1024, 3);
    values[70] = 501;
    values[1023] = 10000;
    expect_same(b.done(), {1, 1, 1},
                {buffer(values), buffer(std::vector<uint8_t>(16)), buffer(std::vector<int32_t>(1))});
  }
}

TEST(LowerReduce, Softmax) {
  for (const ir::Shape &shape : {ir::Shape{4, 256}, {1, 1024}, {16, 64}}) {
    KernelBuilder b(4);
    ir::ValueId x = b.pointer(Element::F32), z = b.pointer(Element::F32);
    ir::ValueId n = b.scalar_argument(Element::I32);
    ir::ValueId offsets = b.offsets(shape);
    ir::ValueId flat_basis = b.expand_dims(b.arange(0, shape[1]), 0);
    ir::ValueId mask = b.broadcast(b.binary(Opcode::Lt, flat_basis, n), shape);
    ir::ValueId tile =
        b.load(b.ptr_add(x, offsets), mask, b.constant(ir::Type::tile(Element::F32, shape), 0xff800000), "");
    ir::ValueId e =
        b.unary(Opcode::Exp, b.binary(Opcode::Sub, tile, b.reduce(Opcode::ReduceMax, tile, 1, true)));
    b.store(b.ptr_add(z, offsets), b.binary(Opcode::Div, e, b.reduce(Opcode::ReduceSum, e, 1, true)), mask,
            "");
    Random random(11);
    int64_t count = shape[0] * shape[1];
    expect_same(b.done(), {1, 1, 1},
                {buffer(random.normals(count)), buffer(std::vector<float>(count)),
                 i32(static_cast<int32_t>(shape[1] - 5))},
                {{1, Element::F32, 16}});
  }
}

} // namespace
} // namespace nereid::codegen::testing
