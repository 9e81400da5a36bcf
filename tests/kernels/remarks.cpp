// What the compiler has to say about the library's kernels: a remark that is not listed here is something
// that it stopped doing.
#include <algorithm>
#include <vector>

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "kernels/registry.h"
#include "tests/kernels/backend.h"

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::kernels::test;

namespace {

struct Expected {
  RemarkKind kind;
  std::string file;
  std::string reason; ///< words of the message
  size_t count = 1;
};

struct RemarkCase {
  std::string name;
  std::string kernel, config;
  ProblemSize size;
  std::vector<Expected> remarks;
};

const Expected split_loop{RemarkKind::SplitOverWaves, "gemm_tile.h", "each of 4 waves"};

std::vector<RemarkCase> cases() {
  const std::string small = "block_m=16,block_n=64,block_k=256,waves=4";
  return {
      {"Fused", "mxfp4_gemm_fused", "block_m=64,block_n=64,block_k=256,waves=4", {64, 2112, 7168}, {}},
      {"FusedSplitOverWaves", "mxfp4_gemm_fused", small, {16, 2112, 7168}, {split_loop}},
      {"FusedWithoutLoop",
       "mxfp4_gemm_fused",
       "block_m=16,block_n=32,block_k=256,waves=4,const_k=1",
       {16, 2880, 512},
       {}},
      {"Atomic", "mxfp4_gemm_fused", small + ",split_k=8,reduce=atomic", {16, 2112, 7168}, {split_loop}},
      {"Workspace",
       "mxfp4_gemm_fused",
       small + ",split_k=4,reduce=workspace",
       {16, 2112, 7168},
       {split_loop}},
      {"LastArrival",
       "mxfp4_gemm_fused",
       small + ",split_k=4,reduce=last_arrival",
       {16, 2112, 7168},
       {split_loop}},
      {"TwoPass", "mxfp4_gemm", "block_m=256,block_n=256,block_k=256", {4096, 4096, 4096}, {}},
      {"TwoPassOfFourWaves",
       "mxfp4_gemm",
       "block_m=128,block_n=128,block_k=256,waves=4",
       {4096, 4096, 4096},
       {}},
      // Rows of 33 scales begin anywhere.
      {"TwoPassOddScales",
       "mxfp4_gemm",
       "block_m=64,block_n=64,block_k=256,waves=4",
       {300, 528, 1056},
       {{RemarkKind::NotThroughLds, "gemm_tile.h", "a lane reads 1 byte at a time, less than a dword"}}},
      {"Quant", "mxfp4_quant", "block_m=32,block_k=256,waves=1,shuffled=1,path=hw", {256, 0, 3072}, {}},
      {"QuantInSoftware", "mxfp4_quant", "block_m=32,block_k=256,waves=1,path=sw", {256, 0, 3072}, {}},
      {"QuantOddRows", "mxfp4_quant", "block_m=32,block_k=256,waves=4,shuffled=1", {77, 0, 2880}, {}},
      {"Batched",
       "mxfp4_batched_gemm",
       "block_m=32,block_n=64,block_k=256,waves=4",
       {64, 2880, 512},
       {split_loop}},
      {"Grouped",
       "mxfp4_grouped_gemm",
       "block_m=32,block_n=64,block_k=256,waves=4",
       {64, 2880, 512},
       {split_loop}},
      {"SplitkReduce", "splitk_reduce", "block_m=16,block_n=128,split_k=8,waves=4", {16, 2112, 7168}, {}},
  };
}

class LibraryRemarks : public ::testing::TestWithParam<RemarkCase> {};

TEST_P(LibraryRemarks, AreThese) {
  const RemarkCase &row = GetParam();
  const Result<const NamedKernel *> kernel = kernel_named(row.kernel);
  ASSERT_TRUE(kernel.ok()) << kernel.error().text();
  const Result<ConfiguredKernel> configured = (*kernel)->configure(row.config, row.size);
  ASSERT_TRUE(configured.ok()) << configured.error().text();
  const CompiledResult compiled = configured->compile(test_device());
  ASSERT_TRUE(compiled.ok()) << compiled.error().text();
  const Result<std::vector<Remark>> remarks = (*compiled)->remarks();
  ASSERT_TRUE(remarks.ok()) << remarks.error().text();

  size_t expected = 0;
  for (const Expected &one : row.remarks) {
    expected += one.count;
    const auto count = std::count_if(remarks->begin(), remarks->end(), [&](const Remark &remark) {
      return remark.kind == one.kind && remark.where.file.ends_with(one.file) &&
             remark.message.find(one.reason) != std::string::npos;
    });
    EXPECT_EQ(static_cast<size_t>(count), one.count) << remark_name(one.kind) << " in " << one.file;
  }
  std::vector<std::string> all;
  for (const Remark &remark : *remarks)
    all.push_back(remark.text());
  EXPECT_EQ(all.size(), expected) << fmt::format("{}", fmt::join(all, "\n"));
}

INSTANTIATE_TEST_SUITE_P(Library, LibraryRemarks, ::testing::ValuesIn(cases()),
                         [](const auto &info) { return info.param.name; });

} // namespace
