// mxfp4_linear on every path: shapes, listed configs, splits, tiles.
#include <map>

#include <gtest/gtest.h>

#include "tests/kernels/backend.h"
#include "tests/kernels/pairwise.h"

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::kernels::test;

namespace {

/// Problems are shared: their exact products take longer than small kernels.
const host::Problem &problem_of(const ProblemSize &size) {
  static std::map<ProblemSize, host::Problem> problems;
  auto found = problems.find(size);
  if (found == problems.end())
    found = problems.emplace(size, host::random_problem(size.m, size.n, size.k, size.m * 7 + size.n + size.k))
                .first;
  return found->second;
}

void expect_product(Backend backend, const ProblemSize &size, GemmPath path,
                    const Partial<GemmConfig> &config) {
  const std::string what = size.text() + " " + std::string(name_of(path)) + " " + config_text(config);
  const host::Problem &problem = problem_of(size);
  const Result<std::vector<uint16_t>> c = run_linear(backend, problem, path, config);
  ASSERT_TRUE(c.ok()) << what << ": " << c.error().text();
  const host::Comparison comparison = host::compare(*c, problem.exact);
  EXPECT_EQ(comparison.wrong, 0) << what << ": the first of them is element "
                                 << comparison.first_wrong.value_or(-1) << ", the largest error "
                                 << comparison.max_error;
}

constexpr GemmPath paths[] = {GemmPath::Fused, GemmPath::Atomic, GemmPath::Workspace, GemmPath::TwoPass};

struct Variant {
  Backend backend;
  GemmPath path;
};

class Gemm : public ::testing::TestWithParam<Variant> {};

} // namespace

TEST_P(Gemm, IsRightForPairsOfShapes) {
  const std::vector<int64_t> ms = {1, 3, 4, 5, 16, 17, 31, 33, 48, 96, 130};
  const std::vector<int64_t> ns = {16, 32, 48, 80, 112, 144, 272};
  const std::vector<int64_t> ks = {32, 64, 96, 128, 160, 192, 224, 256, 288, 320};
  const std::vector<size_t> sizes = {std::size(paths), ms.size(), ns.size(), ks.size()};
  for (const std::vector<size_t> &row : long_tests() ? full_product(sizes) : pairwise(sizes))
    if (paths[row[0]] == GetParam().path)
      expect_product(GetParam().backend, {ms[row[1]], ns[row[2]], ks[row[3]]}, GetParam().path, {});
}

TEST_P(Gemm, IsRightForEveryListedConfig) {
  // Tails in every direction, an iteration that is cut short, two tiles of N at least.
  std::vector<ProblemSize> sizes = {{33, 144, 1312}};
  if (long_tests())
    sizes.insert(sizes.end(), {{1, 16, 32}, {16, 272, 1536}, {130, 80, 320}});
  for (const ProblemSize &size : sizes)
    for (const Partial<GemmConfig> &config : tuning_list(GetParam().path))
      expect_product(GetParam().backend, size, GetParam().path, config);
}

TEST_P(Gemm, IsRightForEveryNumberOfSplits) {
  if (GetParam().path == GemmPath::Fused) {
    expect_product(GetParam().backend, {5, 48, 1056}, GemmPath::Fused, {.split_k = 1});
    return;
  }
  // Five iterations: from six splits on, and for some smaller numbers too, programs are left without work.
  for (int split_k = 1; split_k <= 16; ++split_k)
    expect_product(GetParam().backend, {5, 48, 1056}, GetParam().path,
                   {.tile = {.block_n = 32}, .split_k = split_k});
}

TEST_P(Gemm, IsRightWithAConstantK) {
  for (int64_t k : {int64_t{96}, int64_t{512}, int64_t{1024}, int64_t{1536}})
    expect_product(GetParam().backend, {16, 64, k}, GetParam().path, {.tile = {.const_k = true}});
  // Twelve iterations, three of each wave.
  expect_product(GetParam().backend, {40, 192, 1536}, GetParam().path,
                 {.tile = {.block_m = 32, .block_n = 96, .block_k = 128, .const_k = true}});
  for (int block_m : {4, 8})
    for (int waves : {1, 4})
      expect_product(GetParam().backend, {block_m, 48, 512}, GetParam().path,
                     {.tile = {.block_m = block_m, .block_n = 16, .waves = waves, .const_k = true}});
}

TEST_P(Gemm, IsRightInInstructionsOf32) {
  for (const Partial<TileConfig> &tile :
       std::initializer_list<Partial<TileConfig>>{{.mfma = 32},
                                                  {.block_n = 128, .block_k = 128, .mfma = 32},
                                                  {.block_m = 64, .block_n = 32, .waves = 2, .mfma = 32}})
    expect_product(GetParam().backend, {33, 144, 672}, GetParam().path, {.tile = tile});
}

TEST_P(Gemm, IsRightWhereTheLastArrivalReduces) {
  if (GetParam().path != GemmPath::Workspace && GetParam().path != GemmPath::TwoPass)
    return;
  // Five iterations, several tiles each way, tails; some splits without work.
  for (int split_k : {1, 2, 5, 7, 20})
    expect_product(
        GetParam().backend, {37, 144, 1056}, GetParam().path,
        {.tile = {.block_m = 16, .block_n = 64}, .split_k = split_k, .reduce = Reduce::LastArrival});
  for (const Partial<GemmConfig> &config : std::initializer_list<Partial<GemmConfig>>{
           {.tile = {.mfma = 32}, .split_k = 3, .reduce = Reduce::LastArrival},
           {.tile = {.waves = 1}, .split_k = 2, .reduce = Reduce::LastArrival}})
    expect_product(GetParam().backend, {16, 64, 1024}, GetParam().path, config);
}

TEST_P(Gemm, IsRightForOtherTiles) {
  // 16 columns select one half of a scale tile, 128 of K one half of the other direction; rows below 16 and a
  // K of 64 take their scales one by one.
  for (const Partial<TileConfig> &tile : std::initializer_list<Partial<TileConfig>>{
           {.block_n = 16},
           {.block_k = 128},
           {.block_n = 16, .block_k = 128},
           {.block_m = 32, .block_n = 256},
           {.block_n = 16, .block_k = 512},
           {.block_n = 64, .block_k = 512, .wave_split = WaveSplit::N}})
    expect_product(GetParam().backend, {17, 112, 672}, GetParam().path, {.tile = tile});
}

TEST_P(Gemm, IsRightForSidesThatAreOddMultiplesOf16) {
  const std::vector<int> ms = {4, 16, 48, 80, 96, 160, 224}, ns = {48, 80, 112, 144, 240, 272},
                         ks = {128, 256, 96, 384}, waves = {4, 1, 2, 8};
  const std::vector<WaveSplit> splits = {WaveSplit::Auto, WaveSplit::N, WaveSplit::K, WaveSplit::Mn};
  const std::vector<size_t> sizes = {ms.size(), ns.size(), ks.size(), waves.size(), splits.size()};
  size_t number = 0;
  for (const std::vector<size_t> &row : long_tests() ? full_product(sizes) : pairwise(sizes)) {
    const Partial<GemmConfig> config{.tile = {.block_m = ms[row[0]],
                                              .block_n = ns[row[1]],
                                              .block_k = ks[row[2]],
                                              .waves = waves[row[3]],
                                              .wave_split = splits[row[4]]}};
    // Each path takes its share of the list.
    const ProblemSize size{77, 144, 416};
    if (!plan_gemm(GetParam().path, config, size))
      continue;
    const bool mine = paths[number++ % std::size(paths)] == GetParam().path;
    if (mine || long_tests())
      expect_product(GetParam().backend, size, GetParam().path, config);
  }
}

INSTANTIATE_TEST_SUITE_P(Paths, Gemm, ::testing::ValuesIn([] {
                           std::vector<Variant> variants;
                           for (Backend backend : backends)
                             for (GemmPath path : paths)
                               variants.push_back({backend, path});
                           return variants;
                         }()),
                         [](const auto &info) {
                           return nereid::kernels::test::name_of(info.param.backend) + "_" +
                                  std::string(name_of(info.param.path));
                         });
