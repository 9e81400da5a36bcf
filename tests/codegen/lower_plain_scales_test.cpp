// Products of e2m1 codes with plain [rows, K / 32] scales in a loop along K, as an author writes them.
#include "tests/codegen/lower_traced.h"

namespace nereid::lowering_test {
namespace {

struct ProductConfig {
  int rows = 64, columns = 64, depth = 512, waves = 4, stages = 2;
  NEREID_CONFIG(ProductConfig, rows, columns, depth, waves, stages)
};

void product(const ProductConfig &c, Ptr<const u8> a, Ptr<const u8> a_scales, Ptr<const u8> b,
             Ptr<const u8> b_scales, Ptr<f32> out, Int k, Int pitch) {
  assume(k >= 1);
  assume(k <= 65536);
  assume(pitch >= 1); // of the scales' rows
  assume(pitch <= 2048);
  Var sum = zeros<f32>({c.rows, c.columns});
  for (Int step : range(0, k, c.depth, {.stages = c.stages})) {
    const Tile<i32> byte = step / 2 + cols(c.depth / 2), group = step / 32 + cols(c.depth / 32);
    const Tile<i32> row = rows(c.rows), b_row = rows(c.columns);
    sum += dot_scaled(load(a + row * (k / 2) + byte), load(a_scales + row * pitch + group), e2m1,
                      trans(load(b + b_row * (k / 2) + byte)), load(b_scales + b_row * pitch + group), e2m1);
  }
  store(out + rows(c.rows) * c.columns + cols(c.columns), sum.get());
}

ir::Function traced_product(const ProductConfig &c) {
  const std::vector<ArgumentFacts> facts(7, {.divisibility = 16});
  Result<ir::Function> function = trace("product", product, c, facts);
  EXPECT_TRUE(function.ok()) << function.error().text();
  return function ? *std::move(function) : ir::Function();
}

std::vector<uint8_t> scales_near_one(size_t count, uint64_t seed) {
  Random random(seed);
  std::vector<uint8_t> values(count);
  for (uint8_t &value : values)
    value = static_cast<uint8_t>(125 + random.next() % 4);
  return values;
}

/// Sums of small numbers are exact: which groups meet in an instruction does not show.
TEST(LowerPlainScales, LoopsGiveTheProduct) {
  for (const ProductConfig &c :
       {ProductConfig{}, {64, 64, 256}, {64, 128, 512, 4, 3}, {32, 32, 512, 1}, {16, 64, 512, 2}})
    for (const int32_t k : {512, 1536}) {
      SCOPED_TRACE(config_text(c));
      const auto rows = static_cast<size_t>(c.rows), columns = static_cast<size_t>(c.columns);
      const auto depth = static_cast<size_t>(k);
      Random random(depth);
      expect_same(traced_product(c), {1, 1, 1},
                  {buffer(random.bits<uint8_t>(rows * depth / 2)),
                   buffer(scales_near_one(rows * depth / 32, 1)),
                   buffer(random.bits<uint8_t>(columns * depth / 2)),
                   buffer(scales_near_one(columns * depth / 32, 2)),
                   {Bytes(rows * columns * 4)},
                   number(k),
                   number(k / 32)},
                  {{4, ir::Element::F32}});
    }
}

/// The index divided by the codes of a byte and by the codes of a scale rises evenly: the loop is an LDS
/// pipeline.
TEST(LowerPlainScales, ScalesGoToRegistersByDwordBesideAPipeline) {
  for (int depth : {256, 512}) {
    const std::string code = codegen::testing::assembly(traced_product({128, 128, depth}));
    EXPECT_NE(code.find("buffer_load_dword "), std::string::npos);
    EXPECT_EQ(code.find("buffer_load_ubyte"), std::string::npos);
    EXPECT_EQ(code.find("buffer_load_ushort"), std::string::npos);
    EXPECT_NE(code.find(" lds"), std::string::npos);
  }
}

/// Where tiles of 32 rows are too few for the waves, two bytes a load; their bytes are picked by op_sel.
TEST(LowerPlainScales, HalfDwordsAreNotExtendedInTheLoop) {
  const std::string code = codegen::testing::assembly(traced_product({64, 32, 256}));
  EXPECT_NE(code.find("buffer_load_ushort"), std::string::npos);
  EXPECT_EQ(code.find("v_and_b32_e32 v0, 0xffff"), std::string::npos);
  EXPECT_EQ(code.find(", 0xffff,"), std::string::npos);
}

} // namespace
} // namespace nereid::lowering_test
