// Two loops in which LLVM 22 leaves out the wait for a load to LDS; the checks find both.

#include <cstring>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/sim/assembler.h"

namespace nereid::sim::test {
namespace {

/// A loop of two waves around `body` and before it `entry`. Each wave loads to its half of @X; %own and
/// %other are the lane's words of both halves.
std::string loop(const std::string &entry, const std::string &body) {
  return fmt::format(R"(
@X = internal addrspace(3) global [1024 x i8] poison, align 1024
@Y = internal addrspace(3) global [1024 x i8] poison, align 1024
declare void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8), ptr addrspace(3), i32 immarg, i32, i32, i32 immarg, i32 immarg)
declare ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1), i16, i64, i32)
declare void @llvm.amdgcn.s.barrier()
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.readfirstlane(i32)
define amdgpu_kernel void @k(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %n) #0 {{
entry:
  %item = call i32 @llvm.amdgcn.workitem.id.x()
  %item_wave = lshr i32 %item, 6
  %wave = call i32 @llvm.amdgcn.readfirstlane(i32 %item_wave)
  %half = shl i32 %wave, 8
  %x = getelementptr i8, ptr addrspace(3) @X, i32 %half
  %y = getelementptr i8, ptr addrspace(3) @Y, i32 %half
  %r = call ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1) %in, i16 0, i64 4096, i32 159744)
  %place = shl i32 %item, 2
  %across = xor i32 %place, 256
  %own = getelementptr i8, ptr addrspace(3) @X, i32 %place
  %other = getelementptr i8, ptr addrspace(3) @X, i32 %across
{0}
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = phi i32 [ 0, %entry ], [ %more, %loop ]
  %next = add i32 %i, 1
{1}
  %more = add i32 %sum, %value
  %again = icmp ult i32 %next, %n
  br i1 %again, label %loop, label %done
done:
  %to = getelementptr i32, ptr addrspace(1) %out, i32 %item
  store i32 %more, ptr addrspace(1) %to, align 4
  ret void
}}
attributes #0 = {{ "amdgpu-flat-work-group-size"="128,128" }}
!0 = distinct !{{!0}}
!1 = distinct !{{!1, !0}}
!2 = distinct !{{!2, !0}}
!3 = !{{!1}}
!4 = !{{!2}}
)",
                     entry, body);
}

std::string load_to_lds(const char *to, const char *scopes = "") {
  return fmt::format(
      "  call void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8) %r, ptr addrspace(3) {}, "
      "i32 4, i32 %place, i32 0, i32 0, i32 0){}\n",
      to, scopes);
}
const std::string barrier = "  call void @llvm.amdgcn.s.barrier()\n",
                  fenced = "  fence syncscope(\"workgroup\") release\n" + barrier +
                           "  fence syncscope(\"workgroup\") acquire\n";

Report execute(const std::string &ir, Checks checks) {
  Memory memory;
  const uint64_t in = *memory.allocate(4096), out = *memory.allocate(4096);
  EXPECT_TRUE(memory.fill(in, std::byte{1}, 4096).ok());
  const CodeObject code = load(compile_ir(ir));
  Launch launch;
  launch.block = {128, 1, 1};
  launch.kernarg.resize(20);
  const uint32_t rounds = 3;
  std::memcpy(launch.kernarg.data(), &in, 8);
  std::memcpy(launch.kernarg.data() + 8, &out, 8);
  std::memcpy(launch.kernarg.data() + 16, &rounds, 4);
  launch.checks = checks;
  auto report = run(code, memory, launch);
  EXPECT_TRUE(report.ok());
  return report.ok() ? *report : Report();
}

TEST(LostWait, OfAFenceAtALoopHead) {
  // The release at the head has nothing to wait for when the loop is entered, but after the first round it
  // has.
  const std::string entry = load_to_lds("%x") + fenced,
                    body = fenced + "  %value = load i32, ptr addrspace(3) %other, align 4\n" + fenced +
                           load_to_lds("%x");
  const Report report = execute(loop(entry, body), {.race_lds = true});
  ASSERT_TRUE(report.fault);
  EXPECT_EQ(report.fault->kind, FaultKind::RaceLds);
  EXPECT_EQ(report.fault->instruction.substr(0, 11), "ds_read_b32");
  EXPECT_NE(report.fault->text.find("did not wait for it (vmcnt) before the barrier"), std::string::npos)
      << report.fault->text;
  // With the load ahead of the fence in every round the wait is there.
  EXPECT_FALSE(execute(loop("", load_to_lds("%x") + fenced +
                                    "  %value = load i32, ptr addrspace(3) %other, align 4\n" + fenced),
                       Checks::all())
                   .fault);
}

TEST(LostWait, OfAReadWithAliasScopes) {
  const char *x_scopes = ", !alias.scope !3, !noalias !4", *y_scopes = ", !alias.scope !4, !noalias !3";
  const std::string body = barrier + "  %value = load i32, ptr addrspace(3) %own, align 4" + x_scopes + "\n" +
                           barrier + load_to_lds("%x", x_scopes) + load_to_lds("%y", y_scopes);
  const Report report = execute(loop("", body), {.wait = true});
  ASSERT_TRUE(report.fault);
  EXPECT_EQ(report.fault->kind, FaultKind::Wait);
  EXPECT_EQ(report.fault->instruction.substr(0, 11), "ds_read_b32");
  EXPECT_NE(report.fault->text.find("lds' at"), std::string::npos) << report.fault->text;
}

} // namespace
} // namespace nereid::sim::test
