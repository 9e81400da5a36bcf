// Operands whose rows are contiguous where the instruction wants columns: transposing LDS reads.
#include <algorithm>
#include <cstring>

#include <gtest/gtest.h>

#include "codegen/plan/kernel_plan.h"
#include "tests/codegen/lower_harness.h"

namespace nereid::codegen::testing {
namespace {

using ir::Element;
using ir::Opcode;

/// c = a b of row-major matrices, in blocks of a loop over k. `transposed_a`: a comes as [k, m].
struct Product {
  int64_t block_m = 64, block_n = 64, block_k = 64;
  int waves = 4, stages = 2, mfma = 16;
  Element element = Element::F16;
  bool transposed_a = false;
  bool is_masked = false;
  ir::WaveSplit split = ir::WaveSplit::Mn;

  ir::Function function() const {
    KernelBuilder b(waves);
    b.options().mfma = mfma;
    b.options().wave_split = split;
    const Element sum = element == Element::I8 ? Element::I32 : Element::F32;
    const ir::ValueId pa = b.pointer(element), pb = b.pointer(element), pc = b.pointer(sum);
    const ir::ValueId m = b.scalar_argument(Element::I32, 16), n = b.scalar_argument(Element::I32, 16),
                      k = b.scalar_argument(Element::I32, 16);
    for (const ir::ValueId size : {m, n, k})
      assume_small(b, size);
    const ir::ValueId start[] = {b.constant(ir::Type::tile(sum, {block_m, block_n}), 0)};
    ir::Builder::Loop loop = b.begin_for(b.number(0), k, b.number(block_k), stages, start);
    const auto rising = [&](int64_t count) { return b.add(b.arange(0, count), loop.index); };
    const ir::ValueId first_k = rising(block_k);
    ir::ValueId a = transposed_a ? tile(b, pa, first_k, k, b.arange(0, block_m), m)
                                 : tile(b, pa, b.arange(0, block_m), m, first_k, k);
    const ir::ValueId right = tile(b, pb, first_k, k, b.arange(0, block_n), n);
    if (transposed_a)
      a = b.permute(a, {1, 0});
    const ir::ValueId next[] = {b.add(loop.carried[0], b.dot(a, right))};
    const ir::ValueId result = b.end_for(next)[0];
    const auto [at, inside] = place(b, b.arange(0, block_m), m, b.arange(0, block_n), n);
    b.store(b.ptr_add(pc, at), result, inside, "");
    return b.done();
  }

private:
  static void assume_small(KernelBuilder &b, ir::ValueId size) {
    b.assume(b.binary(Opcode::Ge, size, b.number(0)));
    b.assume(b.binary(Opcode::Lt, size, b.number(1 << 14)));
  }
  /// Offsets and mask of rows and columns of a row-major matrix with that many.
  std::pair<ir::ValueId, ir::ValueId> place(KernelBuilder &b, ir::ValueId row, ir::ValueId rows,
                                            ir::ValueId column, ir::ValueId columns) const {
    row = b.expand_dims(row, 1);
    column = b.expand_dims(column, 0);
    return {b.add(b.mul(row, columns), column),
            b.binary(Opcode::And, b.binary(Opcode::Lt, row, rows), b.binary(Opcode::Lt, column, columns))};
  }
  ir::ValueId tile(KernelBuilder &b, ir::ValueId from, ir::ValueId row, ir::ValueId rows, ir::ValueId column,
                   ir::ValueId columns) const {
    const auto [at, inside] = place(b, row, rows, column, columns);
    return b.load(b.ptr_add(from, at), is_masked ? std::optional(inside) : std::nullopt, {}, "");
  }
};

/// Whole numbers from -4 to 4, whose products and sums are exact.
Argument numbers(Element element, size_t count, uint64_t seed) {
  Random random(seed);
  std::vector<std::byte> bytes;
  for (size_t i = 0; i < count; ++i) {
    const auto value = static_cast<float>(static_cast<int>(random.next() % 9) - 4);
    uint32_t bits;
    std::memcpy(&bits, &value, 4);
    // Of the f32 the f16 has the upper 10 bits of the fraction and an exponent 112 smaller.
    const uint32_t half = (bits >> 16 & 0x8000) | (value == 0 ? 0 : (bits >> 13 & 0x3ffff) - (112u << 10));
    const uint32_t stored = element == Element::F16    ? half
                            : element == Element::BF16 ? bits >> 16
                                                       : static_cast<uint32_t>(static_cast<int>(value));
    for (unsigned byte = 0; byte < ir::byte_size(element); ++byte)
      bytes.push_back(static_cast<std::byte>(stored >> 8 * byte));
  }
  return {bytes};
}

void expect_right(const Product &product, int m, int n, int k) {
  const Element element = product.element;
  expect_same(product.function(), {1, 1, 1},
              {numbers(element, size_t(m) * k, 1), numbers(element, size_t(k) * n, 2),
               buffer(std::vector<int32_t>(size_t(m) * n, -1)), i32(m), i32(n), i32(k)});
}

/// How many loads come through transposing reads.
size_t transposed_loads(const ir::Function &function) {
  const auto plan = plan_kernel(function);
  EXPECT_TRUE(plan.ok());
  size_t count = 0;
  for (const LoopPlan &loop : (*plan)->loops)
    if (const auto *pipeline = std::get_if<LdsPipeline>(&loop.schedule))
      for (const PipelinedLoad &load : pipeline->loads)
        count += load.through_lds() && load.image->transposes() ? 1 : 0;
  return count;
}

TEST(LowerTransposed, RowMajorBOfEveryElement) {
  for (Element element : {Element::F16, Element::BF16, Element::I8})
    for (int mfma : {16, 32}) {
      Product product;
      product.element = element;
      product.mfma = mfma;
      product.block_m = 4 * mfma; // two tiles of rows a wave: a stage is cut into two chunks
      EXPECT_EQ(transposed_loads(product.function()), 1u);
      for (int k : {64, 128, 320})
        expect_right(product, 4 * mfma, 64, k);
    }
}

TEST(LowerTransposed, MasksAreBoundsOfDescriptors) {
  for (Element element : {Element::F16, Element::I8}) {
    Product product;
    product.element = element;
    product.is_masked = true;
    EXPECT_EQ(transposed_loads(product.function()), 1u);
    for (int k : {16, 64, 112, 208})
      expect_right(product, 48, 16, k);
  }
}

TEST(LowerTransposed, BothOperands) {
  Product product;
  product.transposed_a = true;
  product.is_masked = true;
  EXPECT_EQ(transposed_loads(product.function()), 2u);
  expect_right(product, 64, 48, 144);
}

TEST(LowerTransposed, TilesAndWaves) {
  for (const auto &[m, n, waves] :
       {std::array{64, 128, 4}, std::array{128, 64, 4}, std::array{64, 32, 1}, std::array{64, 256, 8}})
    for (int stages : {2, 3}) {
      Product product;
      product.block_m = m;
      product.block_n = n;
      product.waves = waves;
      product.stages = stages;
      product.is_masked = true;
      EXPECT_EQ(transposed_loads(product.function()), 1u) << m << " x " << n;
      expect_right(product, m, n, 208);
    }
}

TEST(LowerTransposed, InTheMachineCode) {
  EXPECT_NE(assembly(Product().function()).find("ds_read_b64_tr_b16"), std::string::npos);
  Product bytes;
  bytes.element = Element::I8;
  EXPECT_NE(assembly(bytes.function()).find("ds_read_b64_tr_b8"), std::string::npos);
}

} // namespace
} // namespace nereid::codegen::testing
