// What the code of the library's kernels may cost.
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "kernels/registry.h"
#include "tests/kernels/backend.h"
#include "tests/support/isa_budget.h"
#include "tests/support/isa_listing.h"

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::kernels::test;
using nereid::test::broken_promises;

namespace {

struct Budget {
  std::string name;
  std::string kernel, config;
  ProblemSize size;
  std::vector<std::string> contracts;
};

/// The loop of the fused kernel: `groups` groups of 32 values of A that a wave quantises in a copy of the
/// body, two copies; nothing waits for all loads, nothing is moved, no wave needs another.
std::vector<std::string> fused_loop(int groups, std::vector<std::string> more) {
  std::vector<std::string> result = {"scratch = 0",
                                     "loop vmcnt(0) = 0",
                                     "loop barriers = 0",
                                     "loop lds_reads = 0",
                                     "loop /readfirstlane/ = 0",
                                     "loop bytes <= 8192",
                                     fmt::format("loop valu <= {}", 2 * groups * 58),
                                     fmt::format("loop /cvt_scalef32_pk_fp4_bf16/ = {}", 2 * groups * 16)};
  result.insert(result.end(), more.begin(), more.end());
  return result;
}

std::vector<Budget> budgets() {
  return {
      {"Fused16x64x256",
       "mxfp4_gemm_fused",
       "block_m=16,block_n=64,block_k=256,split_k=8,waves=4",
       {16, 2112, 7168},
       fused_loop(2, {"loop mfma = 16", "loop moves = 0", "agpr = 0", "vgpr <= 192"})},
      {"Fused16x32x256",
       "mxfp4_gemm_fused",
       "block_m=16,block_n=32,block_k=256,split_k=8,waves=4",
       {16, 2112, 7168},
       fused_loop(2, {"loop mfma = 8", "loop moves = 0", "agpr = 0", "vgpr <= 144"})},
      {"Fused16x32x512",
       "mxfp4_gemm_fused",
       "block_m=16,block_n=32,block_k=512,split_k=4,waves=4",
       {16, 2112, 7168},
       fused_loop(4, {"loop mfma = 16", "loop moves = 0", "agpr = 0", "vgpr <= 256"})},
      {"Fused32x64x256",
       "mxfp4_gemm_fused",
       "block_m=32,block_n=64,block_k=256,split_k=4,waves=4",
       {32, 2112, 7168},
       fused_loop(4, {"loop mfma = 32", "loop moves <= 2"})},
      {"FusedQuantisedOnce",
       "mxfp4_gemm_fused",
       "block_m=16,block_n=128,block_k=512,split_k=4,waves=4,wave_split=n",
       {16, 2112, 7168},
       {"scratch = 0", "loop vmcnt(0) = 0", "loop barriers <= 2", "loop mfma = 16", "loop valu <= 160",
        "loop /cvt_scalef32_pk_fp4_bf16/ = 32", "loop moves = 0"}},
      // Of more rows each wave quantises a part too: 64 x 256 values are 64 groups of 32 a wave and 64 lanes.
      {"Fused64x64x256",
       "mxfp4_gemm_fused",
       "block_m=64,block_n=64,block_k=256,waves=4,const_k=0",
       {512, 2880, 4096},
       {"scratch = 0", "loop vmcnt(0) = 0", "loop mfma = 16", "loop valu <= 232",
        "loop /cvt_scalef32_pk_fp4_bf16/ = 64", "loop moves = 0"}},
      // Rows that are an odd multiple of 16: each wave quantises all rows of the iterations that are its own.
      {"Fused48x64x256",
       "mxfp4_gemm_fused",
       "block_m=48,block_n=64,block_k=256,split_k=4,waves=4",
       {512, 2112, 7168},
       {"scratch = 0", "loop barriers = 0", "loop moves = 0", "loop mfma = 24", "loop valu <= 348",
        "loop /cvt_scalef32_pk_fp4_bf16/ = 96"}},
      {"Fused96x64x256",
       "mxfp4_gemm_fused",
       "block_m=96,block_n=64,block_k=256,waves=4",
       {512, 2880, 4096},
       {"scratch = 0", "loop vmcnt(0) = 0", "loop moves = 0", "loop mfma = 24", "loop valu <= 348",
        "loop /cvt_scalef32_pk_fp4_bf16/ = 96"}},
      // Scales of an odd number of 16 rows come as dwords.
      {"TwoPass48x80x256",
       "mxfp4_gemm",
       "block_m=48,block_n=80,block_k=256,waves=1",
       {480, 2880, 4096},
       {"scratch = 0", "/load_ubyte/ = 0", "/load_u8/ = 0"}},
      {"FusedConstantK512",
       "mxfp4_gemm_fused",
       "block_m=16,block_n=32,block_k=256,waves=4,const_k=1",
       {16, 2880, 512},
       {"instructions <= 220", "mfma = 2", "barriers <= 1", "scratch = 0"}},
      // Three iterations a wave, written out: 6 groups of 32 values, 36 multiplications.
      {"FusedWrittenOut",
       "mxfp4_gemm_fused",
       "block_m=32,block_n=96,block_k=128,waves=4,const_k=1",
       {256, 3072, 1536},
       {"scratch = 0", "agpr = 0", "mfma = 36", "/cvt_scalef32_pk_fp4_bf16/ = 96", "valu <= 430",
        "moves <= 8", "barriers = 1", "/s_cbranch/ = 0", "vmcnt(0) <= 1"}},
      // The slices are stored and loaded at device scope; no cache is written back or invalidated.
      {"FusedLastArrival",
       "mxfp4_gemm_fused",
       "block_m=16,block_n=64,split_k=7,reduce=last_arrival,const_k=1",
       {16, 2112, 7168},
       {"/buffer_wbl2|buffer_inv/ = 0", "/buffer_store_dwordx4.* sc1/ = 1", "/buffer_load_dwordx4.* sc1/ = 7",
        "/mbcnt/ = 0", "barriers <= 4", "scratch = 0"}},
      {"FusedFourRows",
       "mxfp4_gemm_fused",
       "block_m=4,block_n=16,waves=1,const_k=1",
       {4, 2880, 512},
       {"instructions <= 220", "mfma = 4", "barriers = 0", "lds = 0", "scratch = 0"}},
      {"Quant32x256",
       "mxfp4_quant",
       "block_m=32,block_k=256,waves=1,shuffled=1,path=hw",
       {256, 0, 3072},
       {"valu <= 243", "barriers = 0", "lds = 0", "scratch = 0", "stores = 5", "loads = 16",
        "/buffer_store_dword / = 1"}},
      // B is transposed as it is read; a barrier an iteration, in each of three copies of the body.
      {"MatmulEven",
       "matmul",
       "even=1,stages=3",
       {4096, 4096, 4096},
       {"scratch = 0", "loop valu = 0", "loop vmcnt(0) = 0", "loop barriers = 3", "loop mfma = 96",
        "loop /ds_read_b64_tr_b16/ = 48"}},
      {"Matmul256x256",
       "matmul",
       "block_m=256,block_n=256,block_k=32,waves=8,stages=4",
       {4096, 4096, 4096},
       {"scratch = 0", "loop valu <= 12", "loop vmcnt(0) = 0", "loop barriers = 4", "loop mfma = 128",
        "vgpr <= 256"}},
      // Two iterations of 32 scores a lane; P never leaves its registers.
      {"Attention128",
       "attention",
       "head=128",
       {4096, 4096, 128},
       {"scratch = 0", "loop vmcnt(0) = 0", "loop barriers = 4", "loop mfma = 64", "vgpr <= 256", "agpr = 0",
        "loop /v_exp_f32/ = 66", "loop /ds_bpermute|ds_write/ = 0"}},
  };
}

class IsaBudget : public ::testing::TestWithParam<Budget> {};

TEST_P(IsaBudget, Holds) {
  const Budget &budget = GetParam();
  const NamedKernel &kernel = **kernel_named(budget.kernel);
  const Result<ConfiguredKernel> configured = kernel.configure(budget.config, budget.size);
  ASSERT_TRUE(configured.ok()) << configured.error().text();
  const CompiledResult compiled = configured->compile(test_device());
  ASSERT_TRUE(compiled.ok()) << compiled.error().text();
  const std::vector<std::string> broken = broken_promises(**compiled, budget.contracts);
  EXPECT_TRUE(broken.empty()) << fmt::format("{}", fmt::join(broken, "\n"));
}

INSTANTIATE_TEST_SUITE_P(Library, IsaBudget, ::testing::ValuesIn(budgets()),
                         [](const auto &info) { return info.param.name; });

/// A loop of 20 bytes in a loop of 28; the outer one has a wait.
const char *nested = "kernel:\n"
                     "  000100  s_waitcnt vmcnt(0) lgkmcnt(0)                             ; k.cpp:1\n"
                     "  000104  v_mov_b32_e32 v0, 0                                       ; k.cpp:1\n"
                     "  000108  v_mfma_f32_16x16x32_bf16 v[0:3], v[4:7], v[8:11], v[0:3]  ; k.cpp:2\n"
                     "  000110  buffer_load_dwordx4 v[4:7], v12, s[0:3], 0 offen\n"
                     "  000118  s_cbranch_scc1 65531\n"
                     "  00011c  v_mov_b32_e32 v1, 0\n"
                     "  000120  s_cbranch_scc0 65527\n"
                     "  000124  s_endpgm\n";

TEST(IsaBudgets, TheInnermostLoopIsFoundAndMeasured) {
  const nereid::test::IsaListing listing(nested);
  ASSERT_EQ(listing.all().size(), 8U);
  EXPECT_EQ(listing.all()[0].operands, "vmcnt(0) lgkmcnt(0)");
  ASSERT_NE(listing.hot_loop(), nullptr);
  EXPECT_EQ(listing.hot_loop()->size(), 3U);
  EXPECT_EQ(listing.hot_loop()->front().opcode, "v_mfma_f32_16x16x32_bf16");
}

TEST(IsaBudgets, PromisesThatDoNotHoldAreNamed) {
  Resources resources;
  resources.vgpr = 12;
  EXPECT_TRUE(broken_promises(nested, resources,
                              {"vgpr = 12", "scratch = 0", "vmcnt(0) = 1", "loop vmcnt(0) = 0", "valu = 2",
                               "loop valu = 0", "loop mfma >= 1", "loop bytes = 20", "instructions <= 8",
                               "loop /dwordx4 v.4:7/ = 1", "moves = 2", "loads = 1"})
                  .empty());
  for (const char *contract : {"vgpr <= 11", "loop mfma = 2", "bytes >= 100", "loop /dwordx4/ = 0",
                               "colour = 3", "valu < 3", "valu", ""})
    EXPECT_EQ(broken_promises(nested, resources, {contract}).size(), 1U) << contract;
  EXPECT_EQ(broken_promises("kernel:\n  000100  s_endpgm\n", resources, {"loop mfma = 0"}).size(), 1U)
      << "there is no loop";
}

} // namespace
