// The reference kernels with one wait or one barrier wrong: every one is reported.

#include <algorithm>
#include <cstdlib>

#include <gtest/gtest.h>

#include "tests/sim/assembler.h"
#include "tests/sim/assembly_text.h"
#include "tests/sim/reference_kernels.h"

namespace nereid::sim::test {
namespace {

/// A reference kernel that is run again and again, each time broken in another place.
class Mutations {
public:
  explicit Mutations(const ReferenceLaunch &launch) : text(reference_assembly(launch)), run_(launch) {
    options_.checks = Checks::all();
  }

  /// Expects a report of one of these kinds from a text that differs in one line.
  void expect_report(const std::string &mutant, size_t line, std::initializer_list<FaultKind> kinds) {
    const std::string place = text.line(line) + " in line " + std::to_string(line + 1);
    ASSERT_NE(mutant, text.text()) << place;
    ASSERT_FALSE(mutant.empty()) << place;
    const Report report = run_.run(load(assemble_text(mutant)), options_);
    ASSERT_TRUE(report.fault) << "nothing is said about" << place;
    EXPECT_NE(std::find(kinds.begin(), kinds.end(), report.fault->kind), kinds.end())
        << place << ": " << report.fault->error().message;
  }

  const AssemblyText text;

private:
  ReferenceRun run_;
  Launch options_;
};

std::vector<ReferenceLaunch> launches_that(bool (*chosen)(const ReferenceLaunch &)) {
  std::vector<ReferenceLaunch> launches = reference_launches();
  std::erase_if(launches, [&](const ReferenceLaunch &launch) { return !chosen(launch); });
  return launches;
}
std::string file_of(const testing::TestParamInfo<ReferenceLaunch> &instance) { return instance.param.file; }

class LoopMutations : public testing::TestWithParam<ReferenceLaunch> {};
INSTANTIATE_TEST_SUITE_P(Large, LoopMutations,
                         testing::ValuesIn(launches_that([](const ReferenceLaunch &l) { return l.large(); })),
                         file_of);

TEST_P(LoopMutations, EveryBarrierAndEveryExplicitWaitIsNeeded) {
  Mutations mutations(GetParam());
  const std::vector<size_t> barriers = mutations.text.loop_lines_with("s_barrier");
  ASSERT_GE(barriers.size(), 2u) << "one for each stage";
  for (const size_t barrier : barriers) {
    mutations.expect_report(mutations.text.without(barrier), barrier, {FaultKind::RaceLds, FaultKind::Wait});
    const size_t wait = mutations.text.wait_before(barrier, "vmcnt");
    ASSERT_NE(wait, AssemblyText::none);
    mutations.expect_report(mutations.text.with_raised(wait, "vmcnt"), wait,
                            {FaultKind::RaceLds, FaultKind::Wait});
  }
}

class BarrierMutations : public testing::TestWithParam<ReferenceLaunch> {};
INSTANTIATE_TEST_SUITE_P(Fused, BarrierMutations,
                         testing::ValuesIn(launches_that([](const ReferenceLaunch &l) {
                           const auto alone = {"fused_m4_k512", "fused_16x64_nsplit_loop",
                                               "fused_16x64_tail_k448"};
                           return l.fused() && std::find(alone.begin(), alone.end(), l.file) == alone.end();
                         })),
                         file_of);

TEST_P(BarrierMutations, EveryBarrierIsNeeded) {
  Mutations mutations(GetParam());
  const std::vector<size_t> barriers = mutations.text.lines_with("s_barrier");
  ASSERT_GE(barriers.size(), 1u);
  for (size_t k = 0; k < barriers.size(); ++k) {
    // The second barrier of this kernel orders stores to memory before an atomic, for other workgroups.
    if (GetParam().file == "fused_16x64_last_arrival" && k == 1)
      continue;
    mutations.expect_report(mutations.text.without(barriers[k]), barriers[k], {FaultKind::RaceLds});
  }
}

class WaitMutations : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Fused, WaitMutations,
                         testing::Values("fused_16x32_ksplit_k512", "fused_m4_k512",
                                         "fused_16x64_quantise_once", "reduce_2_slices"),
                         [](const auto &instance) { return instance.param; });

/// In these files LLVM made every wait, and none is longer than it must be.
TEST_P(WaitMutations, EveryWaitThatIsOneTooShortIsReported) {
  Mutations mutations(reference_launch(GetParam()));
  unsigned raised = 0;
  for (const size_t wait : mutations.text.lines_with("s_waitcnt"))
    for (const char *counter : {"vmcnt", "lgkmcnt"})
      if (const std::string mutant = mutations.text.with_raised(wait, counter); !mutant.empty()) {
        mutations.expect_report(mutant, wait, {FaultKind::Wait, FaultKind::RaceLds});
        ++raised;
      }
  EXPECT_GE(raised, 2u);
}

/// Waves that read what others have loaded to LDS, in rounds. LLVM 22 forgets the wait that the release fence
/// at the head of the loop stands for: before the loop nothing is in flight, at the end of a round a load is.
std::string rounds_of_loads(const std::string &explicit_wait) {
  return R"(
target triple = "amdgcn-amd-amdhsa"
@stage = internal addrspace(3) global [4096 x i8] poison, align 1024
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.readfirstlane.i32(i32)
declare ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1), i16, i64, i32)
declare void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8), ptr addrspace(3), i32, i32, i32, i32, i32)
declare void @llvm.amdgcn.s.waitcnt(i32)
declare void @llvm.amdgcn.s.barrier()
define amdgpu_kernel void @k(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %rounds) #0 {
entry:
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %wave.of = lshr i32 %t, 6
  %wave = call i32 @llvm.amdgcn.readfirstlane.i32(i32 %wave.of)
  %part = shl i32 %wave, 10
  %to = getelementptr i8, ptr addrspace(3) @stage, i32 %part
  %next = add i32 %t, 64
  %other = and i32 %next, 255
  %place = shl i32 %other, 4
  %from = getelementptr i8, ptr addrspace(3) @stage, i32 %place
  %offset = shl i32 %t, 4
  %r = call ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1) %in, i16 0, i64 16384, i32 159744)
  call void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8) %r, ptr addrspace(3) %to, i32 16, i32 %offset, i32 0, i32 0, i32 0)
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier()
  fence syncscope("workgroup") acquire
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %i.next, %loop ]
  %at = phi i32 [ 4096, %entry ], [ %at.next, %loop ]
  %sum = phi <4 x i32> [ zeroinitializer, %entry ], [ %sum.next, %loop ]
)" + explicit_wait +
         R"(
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier()
  fence syncscope("workgroup") acquire
  %x = load <4 x i32>, ptr addrspace(3) %from, align 16
  %sum.next = add <4 x i32> %sum, %x
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier()
  fence syncscope("workgroup") acquire
  call void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8) %r, ptr addrspace(3) %to, i32 16, i32 %offset, i32 %at, i32 0, i32 0)
  %at.next = add i32 %at, 4096
  %i.next = add i32 %i, 1
  %more = icmp ult i32 %i.next, %rounds
  br i1 %more, label %loop, label %done
done:
  %result = getelementptr <4 x i32>, ptr addrspace(1) %out, i32 %t
  store <4 x i32> %sum.next, ptr addrspace(1) %result
  ret void
}
attributes #0 = { nounwind "amdgpu-flat-work-group-size"="256,256" }
!llvm.module.flags = !{!0}
!0 = !{i32 1, !"amdhsa_code_object_version", i32 600}
)";
}

TEST(LostWait, AtALoopHeadIsReported) {
  for (const bool repaired : {false, true}) {
    TestRun run("s_nop 0");
    const char *wait = repaired ? "  call void @llvm.amdgcn.s.waitcnt(i32 3952)" : ""; // vmcnt(0)
    run.code = load(compile_ir(rounds_of_loads(wait)));
    Memory memory;
    const uint64_t in = *memory.allocate(16384), out = *memory.allocate(4096);
    ASSERT_TRUE(memory.fill(in, std::byte{1}, 16384).ok());
    run.argument(in).argument(out).argument(3);
    run.launch.block = {256, 1, 1};
    run.launch.checks = Checks::all();
    const Report report = run(memory);
    if (repaired) {
      ASSERT_FALSE(report.fault) << report.fault->error().text();
      uint32_t word = 0;
      ASSERT_TRUE(memory.read(out, &word, 4).ok());
      EXPECT_EQ(word, 0x03030303u);
    } else {
      ASSERT_TRUE(report.fault);
      EXPECT_EQ(report.fault->kind, FaultKind::RaceLds) << report.fault->error().text();
    }
  }
}

} // namespace
} // namespace nereid::sim::test
