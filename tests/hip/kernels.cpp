// The library's kernels on a GPU give what they give on the simulator, to the bit.
#include <gtest/gtest.h>

#include "kernels/host/problem.h"
#include "kernels/mxfp4_linear.h"
#include "tests/hip/hip_support.h"

namespace nereid::kernels {
namespace {

using nereid::test::passing_hip_device;

struct Case {
  ProblemSize size;
  GemmPath path;
  Partial<GemmConfig> config;
};

std::vector<uint16_t> product(const Device &device, const host::Problem &problem, const Case &wanted) {
  const auto a = device.upload(problem.a).value();
  const auto b = device.upload(problem.b).value(), b_scales = device.upload(problem.b_scales).value();
  Buffer<uint16_t> c = device.allocate<uint16_t>(problem.m * problem.n).value();
  EXPECT_TRUE(c.fill(0xffff));
  Mxfp4Linear linear(device);
  const Stream stream = device.new_stream().value();
  const Result<LinearReport> report =
      linear(stream, {a, b, b_scales, c}, wanted.size, wanted.path, wanted.config);
  EXPECT_TRUE(report) << report.error().text();
  EXPECT_TRUE(stream.synchronize());
  return c.to_host().value();
}

TEST(HipKernels, GiveWhatTheyGiveOnTheSimulator) {
  const Case cases[] = {
      {{4, 2880, 512}, GemmPath::Auto, {}},
      {{16, 2112, 7168}, GemmPath::Auto, {}},
      {{33, 144, 608}, GemmPath::Fused, {}},
      {{20, 48, 1056}, GemmPath::Atomic, {.split_k = 1}},
      {{20, 48, 1056}, GemmPath::Workspace, {}},
      {{20, 48, 1056}, GemmPath::Workspace, {.split_k = 4, .reduce = Reduce::LastArrival}},
      {{64, 256, 1536}, GemmPath::TwoPass, {}},
      {{130, 272, 352}, GemmPath::TwoPass, {.split_k = 2}},
  };
  const Device gpu = Device::hip().value(), simulator = Device::simulator();
  for (const Case &each : cases) {
    const auto [m, n, k] = each.size;
    const host::Problem problem = host::random_problem(m, n, k, 1);
    const std::vector<uint16_t> on_gpu = product(gpu, problem, each);
    EXPECT_TRUE(host::compare(on_gpu, problem.exact).passed()) << each.size.text() << name_of(each.path);
    EXPECT_EQ(on_gpu, product(simulator, problem, each)) << each.size.text() << name_of(each.path);
  }
}

} // namespace
} // namespace nereid::kernels
