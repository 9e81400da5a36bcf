// The floating-point settings and the threads of the host: the reference, the quantiser and mxfp4_linear give
// what they give without.
#include <gtest/gtest.h>

#include "kernels/host/gemm.h"
#include "kernels/mxfp4_linear.h"
#include "kernels/operand_buffers.h"
#include "tests/support/hostile_floats.h"
#include "tests/support/no_threads.h"

using namespace nereid;
using namespace nereid::kernels;
using nereid::test::HostileFloats;

namespace {

/// No table has the shape, so that the quick estimate chooses.
constexpr ProblemSize size{5, 48, 352};

/// All that is computed of one problem.
struct Computed {
  host::Problem problem;
  host::MxMatrix small; ///< of denormals
  std::vector<uint16_t> c;

  static Computed on(const Device &device) {
    Computed result{host::random_problem(size.m, size.n, size.k, 3), {}, {}};
    std::vector<uint16_t> denormals(64);
    for (size_t i = 0; i < denormals.size(); ++i)
      denormals[i] = static_cast<uint16_t>(i);
    result.small = host::quantize_even(denormals, 2, 32);
    OperandBuffers buffers = OperandBuffers::upload(device, result.problem).value();
    EXPECT_TRUE(buffers.c.fill(0xffff));
    Mxfp4Linear linear(device);
    const auto report = linear(device.stream(), buffers.operands(), size);
    EXPECT_TRUE(report.ok()) << report.error().text();
    result.c = buffers.c.to_host().value();
    EXPECT_TRUE(host::compare(result.c, result.problem.exact).passed());
    return result;
  }
};

void expect_same(const Computed &a, const Computed &b) {
  EXPECT_EQ(a.problem.a, b.problem.a);
  EXPECT_EQ(a.problem.b, b.problem.b);
  EXPECT_EQ(a.problem.exact, b.problem.exact);
  EXPECT_EQ(a.small.codes, b.small.codes);
  EXPECT_EQ(a.small.scales, b.small.scales);
  EXPECT_EQ(a.c, b.c);
}

TEST(HostState, FloatingPointSettingsChangeNoResult) {
  const Computed expected = Computed::on(Device::simulator());
  for (const HostileFloats::Kind kind : HostileFloats::kinds) {
    const HostileFloats hostile(kind);
    const Computed result = Computed::on(Device::simulator());
    EXPECT_TRUE(hostile.in_force());
    expect_same(result, expected);
  }
}

TEST(HostState, WithoutThreadsTheCallerComputes) {
  const Computed expected = Computed::on(Device::simulator());
  const test::NoThreads none;
  expect_same(Computed::on(Device::simulator()), expected);
}

} // namespace
