// The kernels of tests/sim/reference, compiled by LLVM as they are: right to the bit.

#include <gtest/gtest.h>

#include "tests/sim/assembler.h"
#include "tests/sim/reference_kernels.h"

namespace nereid::sim::test {
namespace {

class Reference : public testing::TestWithParam<ReferenceLaunch> {};

std::vector<ReferenceLaunch> launches_alone() {
  std::vector<ReferenceLaunch> launches = reference_launches();
  std::erase_if(launches,
                [](const ReferenceLaunch &launch) { return launch.file == "fused_16x64_workspace"; });
  return launches;
}

TEST_P(Reference, IsRightToTheBit) {
  const CodeObject code = load(assemble_text(reference_assembly(GetParam())));
  ReferenceRun run(GetParam());
  Launch launch;
  launch.checks = Checks::all();
  launch.checks.race_global = true;
  const Report report = run.run(code, launch);
  ASSERT_FALSE(report.fault) << report.fault->error().text();
  run.expect_results();
}

INSTANTIATE_TEST_SUITE_P(Kernels, Reference, testing::ValuesIn(launches_alone()),
                         [](const auto &instance) { return instance.param.file; });

TEST(ReferencePair, AWorkspaceAndItsReduction) {
  const ReferenceLaunch product = reference_launch("fused_16x64_workspace"),
                        reduction = reference_launch("reduce_2_slices");
  ReferenceRun first(product);
  Launch launch;
  launch.checks = Checks::all();
  launch.checks.race_global = true;
  Report report = first.run(load(assemble_text(reference_assembly(product))), launch);
  ASSERT_FALSE(report.fault) << report.fault->error().text();
  ReferenceRun second(reduction);
  second.set("W", first.result("W"));
  report = second.run(load(assemble_text(reference_assembly(reduction))), launch);
  ASSERT_FALSE(report.fault) << report.fault->error().text();
  EXPECT_EQ(second.result("C"), first.expected("C"));
}

} // namespace
} // namespace nereid::sim::test
