// The reference kernels with one wait or one barrier wrong: every one is reported.

#include <algorithm>
#include <cstdlib>

#include <gtest/gtest.h>

#include "tests/sim/assembler.h"
#include "tests/sim/assembly_text.h"
#include "tests/sim/reference_kernels.h"

namespace nereid::sim::test {
namespace {

/// A reference kernel that is run again and again, each time broken at another line.
class Mutations {
public:
  explicit Mutations(const ReferenceLaunch &launch) : text(reference_assembly(launch)), run_(launch) {
    options_.checks = Checks::all();
    options_.checks.race_global = true;
    // A wave that runs ahead reads LDS that nothing has written yet, and what it stores would be reported
    // first.
    options_.checks.undefined = options_.checks.nan_scale = false;
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
    const bool global = GetParam().file == "fused_16x64_last_arrival" && k == 1;
    mutations.expect_report(mutations.text.without(barriers[k]), barriers[k],
                            {global ? FaultKind::RaceGlobal : FaultKind::RaceLds});
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

} // namespace
} // namespace nereid::sim::test
