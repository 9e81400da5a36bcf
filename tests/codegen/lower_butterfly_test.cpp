// Chains of split, arithmetic and join along one axis: what they compute and the registers that they take.
#include <bit>
#include <type_traits>

#include "tests/codegen/lower_traced.h"

namespace nereid::lowering_test {
namespace {

/// A row of the tile is one transform of `columns` values, a power of two; `extra`: stages from the widest
/// distance to the narrowest.
template <class T> void hadamard(const TileConfig &c, Ptr<const T> x, Ptr<T> z) {
  Var v = load(x + c.offsets());
  for (int stage = 1; stage < c.columns; stage *= 2) {
    const int distance = c.extra != 0 ? c.columns / 2 / stage : stage;
    const ir::Shape pairs = {c.rows, c.columns / 2 / distance, 2, distance};
    const auto [low, high] = split(permute(reshape(v.get(), pairs), {0, 1, 3, 2}));
    v = reshape(permute(join(low + high, low - high), {0, 1, 3, 2}), {c.rows, c.columns});
  }
  store(z + c.offsets(), v.get());
}

/// Of small integers: every sum is exact, in every order.
template <class T> void expect_hadamard(const TileConfig &c) {
  SCOPED_TRACE(config_text(c));
  std::vector<T> x(c.count()), expected(c.count());
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<T>(static_cast<int>(i * 7919 % 17) - 8);
  for (const std::vector<size_t> &line : c.lines())
    for (size_t k = 0; k < line.size(); ++k) {
      T sum = 0;
      for (size_t i = 0; i < line.size(); ++i)
        sum += (std::popcount(i & k) % 2 != 0 ? T(-1) : T(1)) * x[line[i]];
      expected[line[k]] = sum;
    }
  using Element = std::conditional_t<std::is_same_v<T, float>, f32, i32>;
  expect_values(traced(hadamard<Element>, c), {buffer(x), {Bytes(c.count() * sizeof(T))}}, 1, expected);
}

TEST(LowerButterfly, TransformsOfEveryLength) {
  for (int columns = 2; columns <= 1024; columns *= columns < 64 ? 2 : 4)
    for (int waves : {1, 4})
      for (int narrowing : {0, 1}) {
        expect_hadamard<float>({1, columns, 1, narrowing, waves});
        expect_hadamard<int32_t>({4, columns, 1, narrowing, waves});
      }
  expect_hadamard<float>({3, 128, 1, 0, 1});
  expect_hadamard<float>({1, 4096, 1, 0, 1});
}

unsigned number_after(const std::string &text, const std::string &key) {
  const size_t at = text.find(key);
  EXPECT_NE(at, std::string::npos) << key;
  return at == std::string::npos ? 0 : static_cast<unsigned>(std::stoul(text.substr(at + key.size())));
}

/// A lane holds its share of the tile, and as much again while it exchanges it.
TEST(LowerButterfly, LanesHoldTheirShare) {
  for (int columns : {64, 128, 512, 2048, 4096})
    for (int narrowing : {0, 1}) {
      const TileConfig c{1, columns, 1, narrowing, 1};
      SCOPED_TRACE(config_text(c));
      const std::string code = codegen::testing::assembly(traced(hadamard<f32>, c));
      const auto share = static_cast<unsigned>(columns / 64);
      EXPECT_LE(number_after(code, ".vgpr_count:"), 2 * share + 16);
      EXPECT_EQ(number_after(code, ".private_segment_fixed_size:"), 0U);
    }
}

} // namespace
} // namespace nereid::lowering_test
