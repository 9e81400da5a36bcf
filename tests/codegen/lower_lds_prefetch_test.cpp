// LDS prefetch: loops over tiles in LDS that carry and compute more than sums of dots.
#include "codegen/plan/kernel_plan.h"
#include "tests/codegen/lower_traced.h"

namespace nereid::lowering_test {
namespace {

/// A product whose left side is computed from a product, beside a running maximum.
struct ChainConfig {
  int block_m = 64, block_n = 32, depth = 64;
  int waves = 4, stages = 2, mfma = 16;
  bool masked = false;
  bool shared = false;  ///< both products take k
  bool bounded = false; ///< rows are known not to overlap
  bool paged = false;   ///< a table says where a tile's rows are; its entry also is a limit of scores
  NEREID_CONFIG(ChainConfig, block_m, block_n, depth, waves, stages, mfma, masked, shared, bounded, paged)
};

template <class Entry>
void chain(const ChainConfig &c, Ptr<const f16> q, Ptr<const f16> k, Ptr<const f16> v, Ptr<Entry> table,
           Ptr<f32> out, Int n, Int pitch) {
  for (const Int &size : {n, pitch}) {
    assume(size >= 0);
    assume(size < 1 << 14);
  }
  if (c.bounded)
    assume(pitch >= c.depth);
  const Tile<i32> place = rows(c.block_m) * c.depth + cols(c.depth);
  const Tile<f16> x = load(q + place);
  Var best = full<f32>({c.block_m, 1}, -100);
  Var total = zeros<f32>({c.block_m, c.depth});
  for (Int first : range(0, n, c.block_n)) {
    const Tile<i32> offsets = rows(c.block_n) * pitch + cols(c.depth);
    const auto entry = [&] { return Int(load(table + first / c.block_n)); };
    const auto tile = [&](const Ptr<const f16> &matrix) {
      const Int row = c.paged ? entry() * c.block_n : first;
      const Ptr<const f16> from = matrix + row.to<i64>() * pitch.to<i64>();
      return c.masked ? load(from + offsets, first + rows(c.block_n) < n) : load(from + offsets);
    };
    const Tile<f32> scores = dot(x, trans(tile(k)));
    best = max(best.get(), max(scores, keep_axis(1)));
    const Float limit = c.paged ? entry().template to<f32>() : Float(8);
    total += dot(min(scores, limit).template to<f16>(), tile(c.shared ? k : v));
  }
  store(out + place, total.get() + best.get());
}

/// With aligned buffers and rows: copies of 16 bytes.
template <class Entry = const i32> ir::Function chain_of(const ChainConfig &c) {
  std::vector<ArgumentFacts> facts(7, {.divisibility = 16});
  facts[5] = {};
  return trace("kernel", chain<Entry>, c, facts).value();
}

/// Whole numbers from -4 to 4, whose products and sums are exact.
std::vector<f16> small_numbers(size_t count, uint64_t seed) {
  Random random(seed);
  std::vector<f16> numbers;
  for (size_t i = 0; i < count; ++i)
    numbers.push_back(f16(static_cast<float>(static_cast<int>(random.next() % 9) - 4)));
  return numbers;
}

/// With columns that the tile does not cover behind each row.
void expect_right(const ChainConfig &c, int n) {
  SCOPED_TRACE(config_text(c) + ", n " + std::to_string(n));
  const int tiles = (n + c.block_n - 1) / c.block_n;
  const int pitch = c.depth + 16, keys = c.masked && !c.paged ? n : tiles * c.block_n;
  std::vector<i32> table(static_cast<size_t>(std::max(tiles, 1)));
  for (int i = 0; i < tiles; ++i)
    table[static_cast<size_t>(i)] = tiles - 1 - i;
  const size_t elements = static_cast<size_t>(c.block_m) * static_cast<size_t>(c.depth);
  const size_t rows = static_cast<size_t>(std::max(keys, 1)) * static_cast<size_t>(pitch);
  expect_same(chain_of(c), {1, 1, 1},
              {buffer(small_numbers(elements, 1)),
               buffer(small_numbers(rows, 2)),
               buffer(small_numbers(rows, 3)),
               buffer(table),
               {Bytes(elements * 4)},
               number(n),
               number(pitch)});
}

const codegen::LdsPrefetch *prefetch_of(const codegen::KernelPlan &plan) {
  return plan.loops.size() == 1 ? std::get_if<codegen::LdsPrefetch>(&plan.loops[0].schedule) : nullptr;
}

TEST(LowerLdsPrefetch, AnyNumberOfIterations) {
  for (int stages : {2, 3, 4})
    for (int n : {0, 32, 64, 96, 160, 224})
      expect_right({.stages = stages}, n);
}

TEST(LowerLdsPrefetch, MasksOfRows) {
  for (int mfma : {16, 32})
    for (int n : {1, 31, 65, 150})
      expect_right({.block_m = 4 * mfma, .mfma = mfma, .masked = true}, n);
}

TEST(LowerLdsPrefetch, BothTilesAreInLdsAheadOfTheirIteration) {
  for (int stages : {2, 3}) {
    const ir::Function function = chain_of({.stages = stages});
    const auto plan = codegen::plan_kernel(function);
    ASSERT_TRUE(plan.ok());
    const codegen::LdsPrefetch *prefetch = prefetch_of(**plan);
    ASSERT_NE(prefetch, nullptr) << (*plan)->text();
    EXPECT_EQ(prefetch->loads.size(), 2u);
    EXPECT_EQ(prefetch->buffers, static_cast<unsigned>(stages));
    EXPECT_TRUE(prefetch->loads[1].image->transposes());
    EXPECT_NE((*plan)->text().find("LDS prefetch, " + std::to_string(stages) + " buffers"),
              std::string::npos);
  }
}

TEST(LowerLdsPrefetch, ATileThatIsLoadedTwiceIsCopiedOnce) {
  const ir::Function function = chain_of({.shared = true});
  const auto plan = codegen::plan_kernel(function);
  ASSERT_TRUE(plan.ok());
  const codegen::LdsPrefetch *prefetch = prefetch_of(**plan);
  ASSERT_NE(prefetch, nullptr) << (*plan)->text();
  ASSERT_EQ(prefetch->loads.size(), 2u);
  EXPECT_EQ(prefetch->loads[1].source, 0u);
  EXPECT_EQ(prefetch->copies(), prefetch->loads[0].copy_count());
  EXPECT_EQ(prefetch->lds_bytes(), 32u * 64 * 2);
  for (int mfma : {16, 32})
    for (int depth : {32, 64, 256})
      for (int n : {0, 32, 96, 128})
        expect_right({.block_m = 4 * mfma, .depth = depth, .mfma = mfma, .shared = true}, n);
  for (int stages : {2, 3})
    for (int n : {1, 70})
      expect_right({.stages = stages, .masked = true, .shared = true}, n);
}

TEST(LowerLdsPrefetch, TheEndOfADescriptorStandsForAMaskOfRows) {
  const ir::Function function = chain_of({.masked = true, .bounded = true});
  const auto plan = codegen::plan_kernel(function);
  ASSERT_TRUE(plan.ok());
  const codegen::LdsPrefetch *prefetch = prefetch_of(**plan);
  ASSERT_NE(prefetch, nullptr) << (*plan)->text();
  for (const codegen::PipelinedLoad &load : prefetch->loads)
    EXPECT_TRUE(load.bound.has_value());
  for (int stages : {2, 3})
    for (int n : {0, 1, 31, 32, 65, 150})
      expect_right({.stages = stages, .masked = true, .bounded = true}, n);
}

TEST(LowerLdsPrefetch, ATableSaysWhereTilesAre) {
  for (bool masked : {false, true}) {
    const ir::Function function = chain_of({.masked = masked, .bounded = masked, .paged = true});
    const auto plan = codegen::plan_kernel(function);
    ASSERT_TRUE(plan.ok());
    const codegen::LdsPrefetch *prefetch = prefetch_of(**plan);
    ASSERT_NE(prefetch, nullptr) << (*plan)->text();
    ASSERT_EQ(prefetch->loop.lookups.size(), 1u); // an entry is loaded once
    EXPECT_EQ(prefetch->loop.lookups[0].loads.size(), 3u);
    EXPECT_TRUE(prefetch->loads[0].moving_base.has_value());
    for (int stages : {2, 3, 4})
      for (int n : {0, 32, 64, 160})
        expect_right({.stages = stages, .masked = masked, .bounded = masked, .paged = true},
                     n + (masked ? 5 : 0));
  }
  expect_right({.masked = true, .paged = true}, 70); // masks of lanes
  expect_right({.shared = true, .paged = true}, 96);
}

// Scalar loads do not see what the kernel may write.
TEST(LowerLdsPrefetch, ATableThatMayBeWrittenIsNotReadAhead) {
  const ir::Function function = chain_of<i32>({.paged = true});
  const auto plan = codegen::plan_kernel(function);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(prefetch_of(**plan), nullptr) << (*plan)->text();
}

TEST(LowerLdsPrefetch, RowsThatMayOverlapKeepTheirMask) {
  const ir::Function function = chain_of({.masked = true});
  const auto plan = codegen::plan_kernel(function);
  ASSERT_TRUE(plan.ok());
  const codegen::LdsPrefetch *prefetch = prefetch_of(**plan);
  ASSERT_NE(prefetch, nullptr) << (*plan)->text();
  for (const codegen::PipelinedLoad &load : prefetch->loads)
    EXPECT_FALSE(load.bound.has_value());
}

// 128 KiB.
TEST(LowerLdsPrefetch, ReadsReachBeyondTheirImmediateOffset) {
  for (bool shared : {false, true})
    for (int n : {128, 384})
      expect_right({.block_n = 128, .depth = 128 << int(shared), .shared = shared}, n);
}

TEST(LowerLdsPrefetch, HasAsManyBuffersAsTheLdsHolds) {
  const ir::Function function = chain_of({.block_n = 128, .depth = 128, .stages = 4});
  const auto plan = codegen::plan_kernel(function);
  ASSERT_TRUE(plan.ok());
  const codegen::LdsPrefetch *prefetch = prefetch_of(**plan);
  ASSERT_NE(prefetch, nullptr) << (*plan)->text();
  EXPECT_EQ(prefetch->buffers, 2u); // of 64 KiB
  const std::vector<Remark> remarks = (*plan)->remarks();
  EXPECT_TRUE(std::any_of(remarks.begin(), remarks.end(), [](const Remark &remark) {
    return remark.kind == RemarkKind::FewerStages &&
           remark.text().find("LDS prefetch has 2 stages of 4") != std::string::npos;
  }));
}

} // namespace
} // namespace nereid::lowering_test
