#include <gtest/gtest.h>

#include "tests/codegen/lower_harness.h"

namespace nereid::codegen::testing {
namespace {

using ir::Element;
using ir::Opcode;

/// z = x + y over n elements, masked, `block` a program; `divisibility` is n's.
ir::Function add_kernel(Element element, int block, int waves, int divisibility) {
  KernelBuilder b(waves, "add");
  ir::ValueId x = b.pointer(element), y = b.pointer(element), z = b.pointer(element);
  ir::ValueId n = b.scalar_argument(Element::I32, divisibility);
  ir::ValueId i = b.add(b.mul(b.program_id(0), b.number(block)), b.arange(0, block));
  ir::ValueId mask = b.binary(Opcode::Lt, i, n);
  ir::ValueId sum = b.add(b.load(b.ptr_add(x, i), mask, {}, ""), b.load(b.ptr_add(y, i), mask, {}, ""));
  b.store(b.ptr_add(z, i), sum, mask, "");
  return b.done();
}

TEST(LowerMemory, VectorAdd) {
  Random random(1);
  for (int waves : {1, 4})
    for (int n : {1, 64, 1000, 1024, 3000}) {
      std::vector<float> x = random.normals(n), y = random.normals(n), z(n, -1.0f);
      expect_same(add_kernel(Element::F32, 1024, waves, n % 16 == 0 ? 16 : 1),
                  {static_cast<uint32_t>(n + 1023) / 1024, 1, 1}, {buffer(x), buffer(y), buffer(z), i32(n)},
                  {{2, Element::F32}});
    }
}

TEST(LowerMemory, ProvenAlignmentMakesWideAccesses) {
  std::string text = assembly(add_kernel(Element::F32, 1024, 4, 16));
  EXPECT_NE(text.find("buffer_load_dwordx4"), std::string::npos);
  EXPECT_NE(text.find("buffer_store_dwordx4"), std::string::npos);
  text = assembly(add_kernel(Element::F32, 1024, 4, 1));
  EXPECT_EQ(text.find("buffer_load_dwordx4"), std::string::npos) << "the mask may end inside four elements";
}

template <class T> void add_integers(Element element) {
  Random random(2);
  for (int n : {256, 250}) {
    std::vector<T> x = random.bits<T>(n), y = random.bits<T>(n), z(n, T(7));
    expect_same(add_kernel(element, 128, 2, n % 16 == 0 ? 16 : 1), {2, 1, 1},
                {buffer(x), buffer(y), buffer(z), i32(n)});
  }
}

TEST(LowerMemory, EveryIntegerMovesWhole) {
  add_integers<uint8_t>(Element::I8);
  add_integers<uint8_t>(Element::U8);
  add_integers<uint16_t>(Element::I16);
  add_integers<uint32_t>(Element::U32);
  add_integers<uint64_t>(Element::I64);
}

TEST(LowerMemory, OtherFillsMaskedElements) {
  for (int waves : {1, 2}) {
    KernelBuilder b(waves);
    ir::ValueId x = b.pointer(Element::U8), z = b.pointer(Element::U8);
    ir::ValueId i = b.arange(0, 512);
    ir::ValueId mask = b.binary(Opcode::Lt, i, b.number(300));
    b.store_tile(z, b.load(b.ptr_add(x, i), mask, b.integer(Element::U8, 77, {512}), ""));
    Random random(3);
    expect_same(b.done(), {1, 1, 1}, {buffer(random.bits<uint8_t>(300)), buffer(std::vector<uint8_t>(512))});
  }
}

TEST(LowerMemory, StridesAndLongOffsets) {
  KernelBuilder b(2);
  ir::ValueId x = b.pointer(Element::I16), z = b.pointer(Element::I16);
  ir::ValueId stride = b.scalar_argument(Element::I64);
  ir::ValueId offsets = b.mul(b.cast(b.arange(0, 128), Element::I64), stride);
  b.store_tile(z, b.load(b.ptr_add(x, offsets), {}, {}, ""));
  ir::Function function = b.done();
  Random random(4);
  for (int64_t step : {1, 3, 70})
    expect_same(function, {1, 1, 1},
                {buffer(random.bits<uint16_t>(70 * 128)), buffer(std::vector<uint16_t>(128)), i64(step)});
}

/// Global instructions take any address: rows that begin at any element are moved 16 bytes at a time.
TEST(LowerMemory, RowsOfOddStridesMoveWhole) {
  Random random(8);
  for (Element element : {Element::U8, Element::F16, Element::F32}) {
    const auto bytes = static_cast<size_t>(ir::byte_size(element));
    for (int waves : {1, 4}) {
      KernelBuilder b(waves);
      ir::ValueId x = b.pointer(element), z = b.pointer(element);
      ir::ValueId pitch = b.scalar_argument(Element::I32);
      ir::ValueId at =
          b.add(b.mul(b.expand_dims(b.arange(0, 64), 1), pitch), b.expand_dims(b.arange(0, 64), 0));
      b.store(b.ptr_add(z, at), b.load(b.ptr_add(x, at), {}, {}, ""), {}, "");
      const ir::Function function = b.done();
      const std::string text = assembly(function);
      for (const char *access : {"_load_dwordx4", "_store_dwordx4"})
        EXPECT_NE(text.find(access), std::string::npos)
            << bytes << " bytes, " << waves << " waves: " << access;
      for (const char *access : {"_load_ubyte", "_load_ushort", "_store_byte", "_store_short"})
        EXPECT_EQ(text.find(access), std::string::npos)
            << bytes << " bytes, " << waves << " waves: " << access;
      std::vector<FloatBuffer> floats;
      if (ir::is_float(element))
        floats = {{1, element}};
      for (int32_t columns : {65, 67, 81})
        expect_same(function, {1, 1, 1},
                    {buffer(random.bits<uint8_t>(64 * columns * bytes)),
                     buffer(std::vector<uint8_t>(64 * columns * bytes)), i32(columns)},
                    floats);
    }
  }
}

/// Of an odd number of rows each begins at an address of its own: what is known of the first says nothing.
TEST(LowerMemory, OddNumbersOfRowsOfOddStrides) {
  Random random(9);
  for (Element element : {Element::U8, Element::F16, Element::F32})
    for (const int64_t rows : {3, 5, 6, 7, 12})
      for (const int64_t pitch : {129, 130, 132}) {
        SCOPED_TRACE(::testing::Message() << rows << " rows, pitch " << pitch);
        const auto bytes = static_cast<size_t>(ir::byte_size(element) * rows * pitch);
        KernelBuilder b(1);
        ir::ValueId x = b.pointer(element), z = b.pointer(element);
        ir::ValueId at = b.add(b.mul(b.expand_dims(b.arange(0, rows), 1), b.number(pitch)),
                               b.expand_dims(b.arange(0, 128), 0));
        b.store(b.ptr_add(z, at), b.load(b.ptr_add(x, at), {}, {}, ""), {}, "");
        std::vector<FloatBuffer> floats;
        if (ir::is_float(element))
          floats = {{1, element}};
        expect_same(b.done(), {1, 1, 1},
                    {buffer(random.bits<uint8_t>(bytes)), buffer(std::vector<uint8_t>(bytes))}, floats);
      }
}

TEST(LowerMemory, OffsetsBeyondTwoGibibytes) {
  // 3 GiB apart: i32 elements of 4 bytes whose byte offset does not fit in 32 bits.
  KernelBuilder b(1);
  ir::ValueId x = b.pointer(Element::I32), z = b.pointer(Element::I32);
  ir::ValueId far = b.scalar_argument(Element::I32);
  ir::ValueId offsets = b.mul(b.arange(0, 2), far);
  b.store(b.ptr_add(x, offsets), b.add(b.arange(0, 2), b.number(5)), {}, "");
  b.store_tile(z, b.load(b.ptr_add(x, offsets), {}, {}, ""));
  constexpr int32_t distance = 3 << 28;
  Argument huge{Reserved{(size_t(distance) + 1) * 4}};
  Result<Outcome> outcome =
      run_compiled(b.done(), {1, 1, 1}, {huge, buffer(std::vector<int32_t>(2)), i32(distance)});
  ASSERT_TRUE(outcome.ok()) << outcome.error().text();
  EXPECT_EQ(outcome->values<int32_t>(1), (std::vector<int32_t>{5, 6}));
}

TEST(LowerMemory, ScalarsAreLoadedAndStoredOnce) {
  KernelBuilder b(4);
  ir::ValueId x = b.pointer(Element::F32), z = b.pointer(Element::F32);
  ir::ValueId value = b.load(b.ptr_add(x, b.program_id(0)), {}, {}, "");
  b.store(b.ptr_add(z, b.program_id(0)), b.add(value, value), {}, "");
  Result<Outcome> outcome =
      run_compiled(b.done(), {3, 1, 1}, {buffer(std::vector<float>{1, 2, 3}), buffer(std::vector<float>(3))});
  ASSERT_TRUE(outcome.ok()) << outcome.error().text();
  EXPECT_EQ(outcome->values<float>(1), (std::vector<float>{2, 4, 6}));
}

TEST(LowerMemory, LaterLoadsSeeEarlierStoresOfOtherLanes) {
  for (int waves : {1, 4}) {
    KernelBuilder b(waves);
    ir::ValueId x = b.pointer(Element::F32), scratch = b.pointer(Element::F32);
    ir::ValueId tile = b.load_tile(x, {32, 32});
    b.store_tile(scratch, tile);
    ir::ValueId turned = b.load(b.ptr_add(scratch, b.permute(b.offsets({32, 32}), {1, 0})), {}, {}, "");
    b.store_tile(x, b.add(tile, turned));
    Random random(5);
    expect_same(b.done(), {1, 1, 1}, {buffer(random.normals(1024)), buffer(std::vector<float>(1024))});
  }
}

TEST(LowerMemory, CopiesInOtherWavesSeeTheOwnersStore) {
  // 64 elements in 4 waves: one wave stores them, all load them.
  KernelBuilder b(4);
  ir::ValueId x = b.pointer(Element::I32), z = b.pointer(Element::I32);
  ir::ValueId at = b.ptr_add(x, b.arange(0, 64));
  b.store(at, b.arange(1, 65), {}, "");
  ir::ValueId copies = b.broadcast(b.expand_dims(b.load(at, {}, {}, ""), 0), {16, 64});
  b.store_tile(z, copies);
  ir::Function function = b.done();
  EXPECT_NE(assembly(function).find("s_barrier"), std::string::npos);
  expect_same(function, {1, 1, 1}, {buffer(std::vector<uint32_t>(64)), buffer(std::vector<uint32_t>(1024))});
}

TEST(LowerMemory, GridAndProgramCounts) {
  KernelBuilder b(1);
  ir::ValueId z = b.pointer(Element::I32);
  ir::ValueId at = b.add(b.mul(b.program_id(1), b.num_programs(0)), b.program_id(0));
  b.store(b.ptr_add(z, at), b.add(b.mul(b.num_programs(0), b.number(100)), b.num_programs(1)), {}, "");
  expect_same(b.done(), {3, 2, 1}, {buffer(std::vector<int32_t>(6))});
}

} // namespace
} // namespace nereid::codegen::testing
