// Elements at an index along an axis, compiled and interpreted, for widths, shapes, axes and waves.
#include <gtest/gtest.h>

#include "tests/codegen/lower_harness.h"

namespace nereid::codegen::testing {
namespace {

using ir::Element;
using ir::Opcode;
using ir::ValueId;

struct Case {
  ir::Shape from;
  ir::Shape index; ///< of rank 2 at most
  int axis;
};
const Case cases[] = {
    {{256}, {256}, 0},       {{7}, {100}, 0},       {{96}, {1}, 0},        {{16, 32}, {5, 32}, 0},
    {{16, 32}, {16, 64}, 1}, {{3, 48}, {3, 48}, 1}, {{12, 8}, {20, 8}, 0}, {{64, 1}, {64, 4}, 1},
};

int64_t count_of(const ir::Shape &shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

/// Indices within the axis.
Argument indices(const Case &c) {
  Random random(21);
  std::vector<int32_t> values;
  for (int64_t i = 0; i < count_of(c.index); ++i)
    values.push_back(static_cast<int32_t>(random.next() % static_cast<uint64_t>(c.from[c.axis])));
  return buffer(values);
}

TEST(LowerGather, OfEveryWidthAndShape) {
  for (const Case &c : cases)
    for (int waves : {1, 4})
      for (Element element : {Element::U8, Element::BF16, Element::F32, Element::I64}) {
        KernelBuilder b(waves);
        ValueId x = b.pointer(element), at = b.pointer(Element::I32), z = b.pointer(element);
        b.store_tile(z, b.gather(b.load_tile(x, c.from), b.load_tile(at, c.index), c.axis));
        const unsigned bytes = ir::byte_size(element);
        Random random(22);
        Bytes data(static_cast<size_t>(count_of(c.from)) * bytes);
        for (std::byte &byte : data)
          byte = static_cast<std::byte>(random.next());
        if (ir::is_float(element)) // no NaN, whose payload has no meaning
          for (size_t high = bytes - 1; high < data.size(); high += bytes)
            data[high] &= std::byte{0xBF};
        expect_same(b.done(), {1, 1, 1},
                    {{data}, indices(c), {Bytes(static_cast<size_t>(count_of(c.index)) * bytes)}});
      }
}

/// The exchange array is shared by the iterations, and by the gathers of one.
TEST(LowerGather, InALoopAndOfTruthValues) {
  for (int waves : {1, 4}) {
    KernelBuilder b(waves);
    ValueId x = b.pointer(Element::I32), at = b.pointer(Element::I32), z = b.pointer(Element::I32);
    const ValueId index = b.load_tile(at, {256}), offsets = b.offsets({256});
    const ValueId start = b.load_tile(x, {256});
    const auto loop = b.begin_for(b.number(0), b.number(5), b.number(1), 1, std::vector<ValueId>{start});
    const ValueId moved = b.gather(loop.carried[0], index, 0);
    const ValueId odd = b.binary(Opcode::Eq, b.binary(Opcode::And, moved, b.number(1)), b.number(1));
    const ValueId sum = b.add(moved, b.cast(b.gather(odd, index, 0), Element::I32));
    const std::vector<ValueId> results = b.end_for(std::vector<ValueId>{sum});
    b.store(b.ptr_add(z, offsets), results[0], {}, "");
    const Case c{{256}, {256}, 0};
    Random random(23);
    expect_same(b.done(), {1, 1, 1},
                {buffer(random.bits<int32_t>(256)), indices(c), buffer(std::vector<int32_t>(256))});
  }
}

/// Compiled code stays within the tile whatever the index is: the last element of the axis.
TEST(LowerGather, AnIndexOutsideReadsTheTile) {
  KernelBuilder b(1);
  ValueId x = b.pointer(Element::I32), at = b.pointer(Element::I32), z = b.pointer(Element::I32);
  b.store_tile(z, b.gather(b.load_tile(x, {64}), b.load_tile(at, {4}), 0));
  std::vector<int32_t> values(64, 1);
  values.back() = 5;
  Result<Outcome> outcome = run_compiled(
      b.done(), {1, 1, 1},
      {buffer(values), buffer(std::vector<int32_t>{64, -1, INT32_MAX, 0}), buffer(std::vector<int32_t>(4))});
  ASSERT_TRUE(outcome.ok()) << outcome.error().text();
  EXPECT_EQ(outcome->values<int32_t>(2), (std::vector<int32_t>{5, 5, 5, 1}));
}

} // namespace
} // namespace nereid::codegen::testing
