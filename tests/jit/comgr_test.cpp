// Run by scripts/test through scripts/with-comgr, with NEREID_COMPILER=comgr; without that it shows what is
// said of a machine that has no comgr.
#include <cstdlib>

#include <gtest/gtest.h>

#include "jit/compile/compiler.h"
#include "kernels/host/problem.h"
#include "kernels/mxfp4_linear.h"
#include "tests/jit/sample_kernels.h"
#include "tests/jit/temporary_directory.h"

namespace nereid::test {
namespace {

bool comgr_is_wanted() {
  const char *choice = std::getenv("NEREID_COMPILER");
  return choice && std::string(choice) == "comgr";
}

TEST(Comgr, IsThereOrSaysWhyNot) {
  auto comgr = jit::comgr_compiler();
  if (comgr) {
    EXPECT_EQ((*comgr)->name().substr(0, 6), "comgr ");
    EXPECT_NE((*comgr)->identity(), jit::embedded_compiler().identity());
  } else {
    EXPECT_FALSE(comgr_is_wanted()) << comgr.error().text();
    EXPECT_EQ(comgr.error().owner, Owner::Environment);
    EXPECT_NE(comgr.error().message.find("comgr"), std::string::npos);
    EXPECT_FALSE(comgr.error().remedy.empty());
  }
}

TEST(Comgr, LeavesTheEnvironmentAlone) {
  const char *before = std::getenv("AMD_COMGR_CACHE");
  const std::string value = before ? before : "unset";
  (void)jit::comgr_compiler();
  const char *after = std::getenv("AMD_COMGR_CACHE");
  EXPECT_EQ(value, after ? after : "unset");
}

TEST(Comgr, CompilesTheSamplesLikeTheChosenCompiler) {
  ScopedEnvironment off("NEREID_CACHE_DIR", "off");
  const Device device = Device::simulator();
  const int n = 3000;
  std::vector<float> x(n), y(n);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<float>(i), y[i] = 0.25f * static_cast<float>(i);
  auto dx = device.upload(x).value(), dy = device.upload(y).value();
  auto dz = device.allocate<float>(x.size()).value();
  const Kernel kernel("add", add);
  const AddConfig config{.block = 512};
  auto run = kernel(device.stream(), {programs(n, config)}, config, dx, dy, dz, n);
  ASSERT_TRUE(run) << run.error().text();
  EXPECT_EQ(run->compiled->compiler().substr(0, 6) == "comgr ", jit::comgr_compiler().ok());
  const std::vector<float> z = dz.to_host().value();
  for (size_t i = 0; i < z.size(); ++i)
    ASSERT_EQ(z[i], x[i] + y[i]) << i;
  auto isa = run->compiled->isa();
  ASSERT_TRUE(isa) << isa.error().text();
  EXPECT_NE(isa->find(".amdhsa_kernel add"), std::string::npos);
}

class ComgrLinear : public testing::TestWithParam<kernels::GemmPath> {};

TEST_P(ComgrLinear, IsWithinTheTolerance) {
  ScopedEnvironment off("NEREID_CACHE_DIR", "off");
  const Device device = Device::simulator();
  const kernels::ProblemSize size{20, 64, 512};
  const auto problem = kernels::host::random_problem(size.m, size.n, size.k, 7);
  auto a = device.upload(problem.a).value();
  auto b = device.upload(problem.b).value(), b_scales = device.upload(problem.b_scales).value();
  auto c = device.allocate<uint16_t>(problem.exact.size()).value();
  ASSERT_TRUE(c.fill(0xffff));
  kernels::Mxfp4Linear linear(device);
  auto report = linear(device.stream(), {a, b, b_scales, c}, size, GetParam());
  ASSERT_TRUE(report) << report.error().text();
  for (const kernels::LaunchRecord &launch : report->launches)
    EXPECT_EQ(launch.info.compiled->compiler().substr(0, 6) == "comgr ", jit::comgr_compiler().ok());
  const auto compared = kernels::host::compare(c.to_host().value(), problem.exact);
  EXPECT_TRUE(compared.passed()) << compared.wrong << " of " << problem.exact.size() << " are wrong";
}

INSTANTIATE_TEST_SUITE_P(Paths, ComgrLinear,
                         testing::Values(kernels::GemmPath::Fused, kernels::GemmPath::Atomic,
                                         kernels::GemmPath::Workspace, kernels::GemmPath::TwoPass));

} // namespace
} // namespace nereid::test
