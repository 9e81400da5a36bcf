#include <array>
#include <cstring>
#include <numeric>

#include <gtest/gtest.h>

#include "tests/sim/assembler.h"

namespace nereid::sim::test {
namespace {

TEST(Machine, AddsVectorsCompiledFromIr) {
  CodeObject code = load(compile_ir(R"(
target triple = "amdgcn-amd-amdhsa"
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workgroup.id.x()
define amdgpu_kernel void @add(ptr addrspace(1) %a, ptr addrspace(1) %b, ptr addrspace(1) %c, i32 %n) {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %g = call i32 @llvm.amdgcn.workgroup.id.x()
  %s = mul i32 %g, 128
  %i = add i32 %s, %t
  %in = icmp ult i32 %i, %n
  br i1 %in, label %body, label %end
body:
  %pa = getelementptr i32, ptr addrspace(1) %a, i32 %i
  %pb = getelementptr i32, ptr addrspace(1) %b, i32 %i
  %pc = getelementptr i32, ptr addrspace(1) %c, i32 %i
  %x = load i32, ptr addrspace(1) %pa
  %y = load i32, ptr addrspace(1) %pb
  %z = add i32 %x, %y
  store i32 %z, ptr addrspace(1) %pc
  br label %end
end:
  ret void
}
!llvm.module.flags = !{!0}
!0 = !{i32 1, !"amdhsa_code_object_version", i32 600}
)"));
  constexpr unsigned n = 1000;
  std::vector<uint32_t> a(n), b(n), c(n);
  std::iota(a.begin(), a.end(), 5u);
  std::iota(b.begin(), b.end(), 0xFFFFFF00u);
  Memory memory;
  uint64_t pa = *memory.allocate(4 * n), pb = *memory.allocate(4 * n), pc = *memory.allocate(4 * n);
  ASSERT_TRUE(memory.write(pa, a.data(), 4 * n).ok());
  ASSERT_TRUE(memory.write(pb, b.data(), 4 * n).ok());
  Launch launch;
  launch.grid = {8, 1, 1};
  launch.block = {128, 1, 1};
  launch.kernarg.resize(28);
  for (unsigned k = 0; k < 3; ++k)
    std::memcpy(launch.kernarg.data() + 8 * k, k == 0 ? &pa : k == 1 ? &pb : &pc, 8);
  std::memcpy(launch.kernarg.data() + 24, &n, 4);
  auto report = run(code, memory, launch);
  ASSERT_TRUE(report.ok()) << report.error().text();
  ASSERT_FALSE(report->fault) << report->fault->error().text();
  ASSERT_TRUE(memory.read(pc, c.data(), 4 * n).ok());
  for (unsigned i = 0; i < n; ++i)
    ASSERT_EQ(c[i], a[i] + b[i]) << i;
  EXPECT_EQ(report->waves, 16u);
  EXPECT_EQ(report->counts.vmem_load, 32u);
  EXPECT_EQ(report->counts.vmem_store, 16u);
}

std::string refusal(const Launch &launch, const KernelOptions &options = {}) {
  Memory memory;
  auto report = run(load(assemble("s_nop 0", options)), memory, launch);
  EXPECT_FALSE(report.ok());
  if (report.ok())
    return "";
  EXPECT_EQ(report.error().owner, Owner::User);
  return report.error().message;
}

TEST(Machine, RefusesLaunchesBeyondTheLimits) {
  Launch empty;
  empty.grid = {4, 0, 1};
  EXPECT_NE(refusal(empty).find("is empty"), std::string::npos);
  Launch wide;
  wide.block = {1025, 1, 1};
  EXPECT_NE(refusal(wide).find("is larger than 1024"), std::string::npos);
  Launch product;
  product.block = {64, 64, 64};
  EXPECT_NE(refusal(product).find("is larger than 1024"), std::string::npos);
  KernelOptions small;
  small.max_workgroup_size = 64;
  Launch bigger;
  bigger.block = {65, 1, 1};
  EXPECT_NE(refusal(bigger, small).find("is larger than 64"), std::string::npos);
  KernelOptions local;
  local.lds_size = 1024;
  Launch dynamic;
  dynamic.dynamic_lds = 160 * 1024 - 1023;
  EXPECT_NE(refusal(dynamic, local).find("LDS"), std::string::npos);
  Launch arguments;
  arguments.kernarg.resize(65);
  EXPECT_NE(refusal(arguments).find("65 bytes of arguments, the kernel takes 64"), std::string::npos);
  Launch name;
  name.kernel = "other";
  EXPECT_NE(refusal(name).find("no kernel 'other'"), std::string::npos);
}

TEST(Machine, WavesMeetAtBarriers) {
  // 16 waves write their number, meet, and read what the next wave wrote.
  KernelOptions options;
  options.lds_size = 64;
  TestRun run(
      "s_load_dwordx2 s[4:5], s[0:1], 0x0\nv_and_b32 v0, 0x3ff, v0\nv_lshrrev_b32 v1, 6, v0\n"
      "v_lshlrev_b32 v2, 2, v1\nds_write_b32 v2, v1\ns_waitcnt lgkmcnt(0)\ns_barrier\nv_add_u32 v3, 1, v1\n"
      "v_and_b32 v3, 15, v3\nv_lshlrev_b32 v3, 2, v3\nds_read_b32 v4, v3\nv_lshlrev_b32 v0, 2, v0\n"
      "s_waitcnt lgkmcnt(0)\nglobal_store_dword v0, v4, s[4:5]",
      options);
  Memory memory;
  uint64_t out = *memory.allocate(4096);
  run.argument(out);
  run.launch.block = {1024, 1, 1};
  Report report = run(memory);
  ASSERT_FALSE(report.fault) << report.fault->error().text();
  std::vector<uint32_t> words(1024);
  ASSERT_TRUE(memory.read(out, words.data(), 4096).ok());
  for (unsigned i = 0; i < 1024; ++i)
    ASSERT_EQ(words[i], (i / 64 + 1) % 16);
  EXPECT_EQ(report.counts.barrier, 16u);
  EXPECT_EQ(report.counts.lds, 32u);
  EXPECT_EQ(report.waves, 16u);
}

TEST(Machine, WavesOfAWorkgroupGoSideBySide) {
  // Nothing but time keeps a wave from overwriting what the other one is about to read.
  KernelOptions options;
  options.lds_size = 4096;
  std::string body = load_buffer;
  body += "v_lshlrev_b32 v1, 2, v0\nv_mov_b32 v2, 7\nds_write_b32 v1, v2\ns_waitcnt lgkmcnt(0)\ns_barrier\n"
          "v_xor_b32 v3, 0x100, v1\nds_read_b32 v4, v3\ns_waitcnt lgkmcnt(0)\n";
  for (unsigned k = 0; k < 16; ++k)
    body += "s_nop 0\n";
  body += "v_mov_b32 v2, 9\nds_write_b32 v1, v2\nglobal_store_dword v1, v4, s[4:5]";
  TestRun run(body, options);
  run.launch.block = {128, 1, 1};
  Memory memory;
  const uint64_t buffer = *memory.allocate(512);
  run.argument(buffer);
  const Report report = run(memory);
  ASSERT_FALSE(report.fault) << report.fault->error().text();
  std::array<uint32_t, 128> result{};
  ASSERT_TRUE(memory.read(buffer, result.data(), sizeof result).ok());
  for (uint32_t value : result)
    EXPECT_EQ(value, 7u);
}

TEST(Machine, ABarrierThatSomeWavesSkipIsAFault) {
  TestRun run(
      "v_readfirstlane_b32 s20, v0\ns_and_b32 s20, s20, 0x3ff\ns_cmp_lg_u32 s20, 0\ns_cbranch_scc1 1f\n"
      "s_barrier\n1:");
  run.launch.block = {128, 1, 1};
  Memory memory;
  Report report = run(memory);
  ASSERT_TRUE(report.fault);
  EXPECT_EQ(report.fault->kind, FaultKind::Barrier);
  EXPECT_EQ(report.fault->instruction, "s_barrier");
}

TEST(Machine, WavesMayWaitForEachOtherThroughLds) {
  // Wave 0 spins until wave 1, which starts later, has written.
  KernelOptions options;
  options.lds_size = 4;
  TestRun run("v_readfirstlane_b32 s20, v0\ns_and_b32 s20, s20, 0x3ff\nv_mov_b32 v1, 0\nv_mov_b32 v2, 9\n"
              "s_cmp_lg_u32 s20, 0\ns_cbranch_scc1 2f\n1:\nds_read_b32 v3, v1\ns_waitcnt lgkmcnt(0)\n"
              "v_readfirstlane_b32 s21, v3\ns_cmp_lg_u32 s21, 9\ns_cbranch_scc1 "
              "1b\ns_endpgm\n2:\nds_write_b32 v1, v2",
              options);
  run.launch.block = {128, 1, 1};
  Memory memory;
  EXPECT_FALSE(run(memory).fault);
}

TEST(Machine, EndlessLoopsRunOutOfBudget) {
  TestRun run("1:\ns_branch 1b");
  run.launch.instruction_budget = 100000;
  Memory memory;
  Report report = run(memory);
  ASSERT_TRUE(report.fault);
  EXPECT_EQ(report.fault->kind, FaultKind::Budget);
  EXPECT_EQ(report.counts.total, 100000u);
  EXPECT_EQ(report.counts.branch, 100000u);
}

TEST(Machine, ABudgetIsThatOfTheLaunchOnAnyNumberOfHostThreads) {
  // Few instructions in all, and less than the threads would count at once.
  TestRun run("s_movk_i32 s20, 100\n1:\ns_sub_u32 s20, s20, 1\ns_cmp_lg_u32 s20, 0\ns_cbranch_scc1 1b");
  run.launch.grid = {64, 1, 1};
  Memory memory;
  const uint64_t needed = run(memory).counts.total;
  for (const unsigned threads : {1u, 2u, 3u, 8u, 32u})
    for (int i = 0; i < 20; ++i) {
      run.launch.threads = threads;
      run.launch.instruction_budget = needed;
      EXPECT_FALSE(run(memory).fault) << threads;
      run.launch.instruction_budget = needed - 1;
      const Report report = run(memory);
      ASSERT_TRUE(report.fault) << threads;
      EXPECT_EQ(report.fault->kind, FaultKind::Budget);
      EXPECT_EQ(report.fault->text, "the launch executed its 19327 instructions and has not ended");
    }
}

TEST(Machine, InstructionsThatAreNotSimulatedAreNamed) {
  TestRun run("v_mov_b32 v1, 0\nv_screen_partition_4se_b32 v1, v1");
  Memory memory;
  Report report = run(memory);
  ASSERT_TRUE(report.fault);
  EXPECT_EQ(report.fault->kind, FaultKind::Unsupported);
  EXPECT_EQ(report.fault->instruction, "v_screen_partition_4se_b32_e32 v1, v1");
  EXPECT_EQ(report.fault->address % 4, 0u);
  TestRun skipped("s_branch 1f\n.long 0xffffffff\n1:");
  EXPECT_FALSE(skipped(memory).fault);
  TestRun reached(".long 0xffffffff");
  ASSERT_TRUE(reached(memory).fault);
}

TEST(Machine, TheLowestFaultingWorkgroupIsReported) {
  TestRun run("s_cmp_lt_u32 s2, 5\ns_cbranch_scc1 1f\ns_trap 2\n1:");
  run.launch.grid = {40, 1, 1};
  run.launch.threads = 4;
  Memory memory;
  Report report = run(memory);
  ASSERT_TRUE(report.fault);
  EXPECT_EQ(report.fault->workgroup[0], 5u);
}

TEST(Machine, PartialWavesAndThreeDimensionsOfWorkItems) {
  TestRun run(
      "s_load_dwordx2 s[4:5], s[0:1], 0x0\nv_and_b32 v1, 0x3ff, v0\nv_bfe_u32 v2, v0, 10, 10\n"
      "v_bfe_u32 v3, v0, 20, 10\nv_mul_u32_u24 v4, 5, v2\nv_add_u32 v4, v4, v1\nv_mul_u32_u24 v5, 15, v3\n"
      "v_add_u32 v4, v4, v5\nv_lshlrev_b32 v4, 2, v4\ns_mul_i32 s6, s4, 0\ns_lshl_b32 s6, s3, 3\n"
      "s_or_b32 s6, s6, s4\nv_mov_b32 v6, s3\ns_waitcnt lgkmcnt(0)\nglobal_store_dword v4, v6, s[4:5]");
  Memory memory;
  uint64_t out = *memory.allocate(4 * 5 * 3 * 2 * 10);
  ASSERT_TRUE(memory.fill(out, std::byte{0xFF}, 1200).ok());
  run.argument(out);
  run.launch.grid = {1, 7, 1};
  run.launch.block = {5, 3, 10};
  run.launch.threads = 1;
  Report report = run(memory);
  ASSERT_FALSE(report.fault) << report.fault->error().text();
  EXPECT_EQ(report.waves, 21u);
  std::vector<uint32_t> words(300);
  ASSERT_TRUE(memory.read(out, words.data(), 1200).ok());
  for (unsigned i = 0; i < 300; ++i)
    EXPECT_EQ(words[i], i < 150 ? 6 : 0xFFFFFFFF) << i;
}

TEST(Machine, OffsetsBeyondFourGigabytes) {
  TestRun run(
      "s_load_dwordx2 s[4:5], s[0:1], 0x0\nv_mov_b32 v1, 0xfffffff0\nv_mov_b32 v2, 77\ns_waitcnt lgkmcnt(0)\n"
      "s_add_u32 s4, s4, 0x20000000\ns_addc_u32 s5, s5, 0\nglobal_store_dword v1, v2, s[4:5] offset:12");
  Memory memory;
  uint64_t out = *memory.allocate(size_t{5} << 30);
  run.argument(out);
  Report report = run(memory);
  ASSERT_FALSE(report.fault) << report.fault->error().text();
  uint32_t word = 0;
  ASSERT_TRUE(memory.read(out + 0x20000000 + 0xFFFFFFFC, &word, 4).ok());
  EXPECT_EQ(word, 77u);
}

} // namespace
} // namespace nereid::sim::test
