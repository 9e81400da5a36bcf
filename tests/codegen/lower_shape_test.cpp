#include <gtest/gtest.h>

#include "tests/codegen/lower_harness.h"

namespace nereid::codegen::testing {
namespace {

using ir::Element;
using ir::Opcode;

const Element widths[] = {Element::U8, Element::BF16, Element::F32, Element::I64};

/// Runs `make` on a tile of every element width with 1 and 4 waves; the result is stored row-major.
template <class Make> void for_each_width(const ir::Shape &shape, const Make &make) {
  for (int waves : {1, 4})
    for (Element element : widths) {
      KernelBuilder b(waves);
      ir::ValueId x = b.pointer(element), z = b.pointer(element);
      ir::ValueId result = make(b, b.load_tile(x, shape));
      int64_t count = b.type(result).count();
      b.store_tile(z, b.reshape(result, {count}));
      Random random(static_cast<uint64_t>(waves));
      int64_t elements = 1;
      for (int64_t size : shape)
        elements *= size;
      Bytes data(elements * ir::byte_size(element));
      for (std::byte &byte : data)
        byte = static_cast<std::byte>(random.next());
      std::vector<FloatBuffer> floats;
      if (ir::is_float(element))
        floats = {{1, element}};
      expect_same(b.done(), {1, 1, 1}, {{data}, {Bytes(count * ir::byte_size(element))}}, floats);
    }
}

TEST(LowerShape, Transposition) {
  for_each_width({32, 64}, [](KernelBuilder &b, ir::ValueId x) { return b.permute(x, {1, 0}); });
}

TEST(LowerShape, ReshapeAndPermute) {
  for_each_width({32, 64}, [](KernelBuilder &b, ir::ValueId x) {
    ir::ValueId parts = b.reshape(b.reshape(x, {64, 32}), {4, 4, 4, 32});
    return b.permute(parts, {2, 1, 3, 0});
  });
}

TEST(LowerShape, SplitAndJoin) {
  for_each_width({16, 32}, [](KernelBuilder &b, ir::ValueId x) {
    auto [even, odd] = b.split(b.reshape(x, {16, 16, 2}));
    return b.join(odd, even);
  });
}

TEST(LowerShape, SplitAcrossLanes) {
  for_each_width({2, 256}, [](KernelBuilder &b, ir::ValueId x) {
    auto [first, second] = b.split(b.permute(x, {1, 0}));
    return b.permute(b.join(second, first), {1, 0});
  });
}

TEST(LowerShape, SmallTilesHoldCopies) {
  for_each_width({2, 4}, [](KernelBuilder &b, ir::ValueId x) { return b.permute(x, {1, 0}); });
  for_each_width({1, 1}, [](KernelBuilder &b, ir::ValueId x) { return b.broadcast(x, {4, 8}); });
}

TEST(LowerShape, Broadcasts) {
  for (int waves : {1, 4}) {
    KernelBuilder b(waves);
    ir::ValueId x = b.pointer(Element::F32), y = b.pointer(Element::F32), z = b.pointer(Element::F32);
    ir::ValueId rows = b.load_tile(x, {32}), bases = b.load_tile(y, {64});
    b.store_tile(z, b.add(b.expand_dims(rows, 1), b.expand_dims(bases, 0)));
    Random random(9);
    expect_same(b.done(), {1, 1, 1},
                {buffer(random.normals(32)), buffer(random.normals(64)), buffer(std::vector<float>(2048))});
  }
}

} // namespace
} // namespace nereid::codegen::testing
