// mxfp4_linear: its choice of paths, its launches and memory, and what it refuses.
#include <functional>
#include <thread>

#include <gtest/gtest.h>

#include "jit/device/launch_scope.h"
#include "kernels/host/formats.h"
#include "kernels/host/random.h"
#include "kernels/host/shuffle.h"
#include "tests/kernels/backend.h"

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::kernels::test;

namespace {

/// A problem on the device.
struct Operands {
  Buffer<uint16_t> a;
  Buffer<uint8_t> b;
  Buffer<uint8_t> b_scales;
  Buffer<uint16_t> c;

  explicit Operands(const host::Problem &problem, const Device &device = test_device())
      : a(device.upload(problem.a).value()), b(device.upload(problem.b).value()),
        b_scales(device.upload(problem.b_scales).value()),
        c(device.allocate<uint16_t>(problem.m * problem.n).value()) {
    EXPECT_TRUE(c.fill(0xffff).ok());
  }
  LinearOperands operands() const { return {a, b, b_scales, c}; }
};

Error linear_error(const LinearOperands &operands, const ProblemSize &size, GemmPath path = GemmPath::Auto,
                   const Partial<GemmConfig> &config = {}) {
  Mxfp4Linear linear(test_device(), options_of(Backend::Interpreted));
  Result<LinearReport> report = linear(test_device().stream(), operands, size, path, config);
  EXPECT_FALSE(report.ok());
  return report ? Error{} : report.error();
}

} // namespace

TEST(Mxfp4Linear, WithAConfigThePathFollowsFromTheShape) {
  const auto path = [](const ProblemSize &size) {
    return plan_gemm(GemmPath::Auto, {.tile = {.block_n = 64}}, size).value().path;
  };
  EXPECT_EQ(path({256, 2880, 512}), GemmPath::Fused);
  EXPECT_EQ(path({16, 2112, 7168}), GemmPath::Workspace);
  EXPECT_EQ(path({8, 2112, 2048}), GemmPath::Workspace);
  EXPECT_EQ(path({16, 3072, 1536}), GemmPath::Atomic);
  EXPECT_EQ(path({32, 3072, 4096}), GemmPath::Atomic);
  EXPECT_EQ(path({64, 7168, 2048}), GemmPath::TwoPass);
}

TEST(Mxfp4Linear, AConfigMovesTheAutomaticPath) {
  const auto path = [](const Partial<GemmConfig> &config) {
    return plan_gemm(GemmPath::Auto, config, {4, 2880, 512}).value().path;
  };
  EXPECT_EQ(path({}), GemmPath::Fused);
  EXPECT_EQ(path({.split_k = 2}), GemmPath::Workspace);
  EXPECT_EQ(path({.reduce = Reduce::Atomic}), GemmPath::Atomic);
}

TEST(Mxfp4Linear, ReportsItsLaunchesInOrder) {
  const host::Problem problem = host::random_problem(16, 64, 1024, 1);
  const Operands operands(problem);
  Mxfp4Linear linear(test_device(), options_of(Backend::Interpreted));
  const auto kernels_of = [&](GemmPath path) {
    std::vector<std::string> names;
    const LinearReport report =
        linear(test_device().stream(), operands.operands(), {16, 64, 1024}, path).value();
    for (const LaunchRecord &record : report.launches)
      names.emplace_back(record.info.kernel());
    return names;
  };
  EXPECT_EQ(kernels_of(GemmPath::Fused), (std::vector<std::string>{"mxfp4_gemm_fused"}));
  EXPECT_EQ(kernels_of(GemmPath::Atomic),
            (std::vector<std::string>{"memset_f32", "mxfp4_gemm_fused", "splitk_reduce"}));
  EXPECT_EQ(kernels_of(GemmPath::Workspace), (std::vector<std::string>{"mxfp4_gemm_fused", "splitk_reduce"}));
  EXPECT_EQ(kernels_of(GemmPath::TwoPass), (std::vector<std::string>{"mxfp4_quant", "mxfp4_gemm"}));
}

TEST(Mxfp4Linear, SplitsOfOneTileAreCapped) {
  EXPECT_EQ(plan_gemm(GemmPath::Workspace, {}, {16, 64, 512}).value().gemm.split_k, 2);
  EXPECT_EQ(plan_gemm(GemmPath::Workspace, {}, {16, 64, 7168}).value().gemm.split_k, 8);
  EXPECT_EQ(plan_gemm(GemmPath::Atomic, {}, {16, 64, 32}).value().gemm.split_k, 1);
  EXPECT_EQ(plan_gemm(GemmPath::Atomic, {.tile = {.block_k = 512}}, {16, 64, 2048}).value().gemm.split_k, 4);
}

TEST(Mxfp4Linear, RepeatedCallsGiveTheSameResult) {
  const host::Problem problem = host::random_problem(20, 48, 608, 3);
  const Operands operands(problem);
  for (GemmPath path : {GemmPath::Atomic, GemmPath::Workspace, GemmPath::TwoPass}) {
    Mxfp4Linear linear(test_device(), options_of(Backend::Interpreted));
    for (int call = 0; call < 3; ++call) {
      ASSERT_TRUE(linear(test_device().stream(), operands.operands(), {20, 48, 608}, path).ok());
      EXPECT_TRUE(host::compare(operands.c.to_host().value(), problem.exact).passed())
          << name_of(path) << call;
    }
  }
}

TEST(Mxfp4Linear, LastArrivalIsOneLaunchThatLeavesItsCountersZero) {
  const host::Problem problem = host::random_problem(20, 48, 1056, 3);
  Operands operands(problem);
  for (Backend backend : backends) {
    Mxfp4Linear linear(test_device(), options_of(backend));
    std::vector<uint16_t> first;
    for (int call = 0; call < 3; ++call) {
      ASSERT_TRUE(operands.c.fill(0xffff).ok());
      const Result<LinearReport> report =
          linear(test_device().stream(), operands.operands(), {20, 48, 1056}, GemmPath::Workspace,
                 {.split_k = 4, .reduce = Reduce::LastArrival});
      ASSERT_TRUE(report.ok()) << report.error().text();
      EXPECT_EQ(report->launches.size(), 1U);
      const std::vector<uint16_t> c = operands.c.to_host().value();
      EXPECT_TRUE(host::compare(c, problem.exact).passed()) << name_of(backend) << call;
      first = call == 0 ? c : first;
      EXPECT_EQ(c, first);
    }
  }
}

TEST(Mxfp4Gemm, LastArrivalNeedsItsWorkspace) {
  const Operands operands(host::random_problem(4, 16, 64, 1));
  const ProblemSize size{4, 16, 64};
  const GemmConfig config =
      gemm_fused_kernel.complete({.split_k = 2, .reduce = Reduce::LastArrival}, size).value();
  const Result<LaunchRecord> launched =
      gemm_fused_kernel.launch({test_device().stream(), options_of(Backend::Interpreted)}, config, size,
                               {operands.a, operands.b, operands.b_scales, operands.c});
  ASSERT_FALSE(launched.ok());
  EXPECT_EQ(launched.error().message, "mxfp4_gemm_fused: operand slices is null");
}

TEST(Mxfp4Linear, AllocatesNothingAfterTheFirstCall) {
  const host::Problem problem = host::random_problem(20, 48, 608, 4);
  const Device device = Device::simulator({.memory = 1 << 22});
  const auto a = device.upload(problem.a).value();
  const auto b = device.upload(problem.b).value();
  const auto b_scales = device.upload(problem.b_scales).value();
  Buffer<uint16_t> c = device.allocate<uint16_t>(problem.m * problem.n).value();
  Mxfp4Linear linear(device, {.interpret = true});
  const auto call = [&](GemmPath path) {
    return linear(device.stream(), {a, b, b_scales, c}, {problem.m, problem.n, problem.k}, path).ok();
  };
  constexpr GemmPath paths[] = {GemmPath::Fused, GemmPath::Atomic, GemmPath::Workspace, GemmPath::TwoPass};
  for (GemmPath path : paths)
    ASSERT_TRUE(call(path));
  // Whatever is left of the device's memory is taken: an allocation could only fail.
  std::vector<Buffer<uint8_t>> rest;
  for (size_t bytes = 1 << 22; bytes > 0; bytes /= 2)
    while (Result<Buffer<uint8_t>> taken = device.allocate<uint8_t>(bytes))
      rest.push_back(std::move(*taken));
  const Result<LinearReport> larger =
      linear(device.stream(), {a, b, b_scales, c}, {problem.m, problem.n, problem.k}, GemmPath::Workspace,
             {.split_k = 8});
  ASSERT_FALSE(larger.ok());
  EXPECT_NE(larger.error().message.find("out of simulated device memory"), std::string::npos)
      << larger.error().text();
  for (GemmPath path : paths) {
    ASSERT_TRUE(c.fill(0xffff).ok());
    EXPECT_TRUE(call(path)) << name_of(path);
    EXPECT_TRUE(host::compare(c.to_host().value(), problem.exact).passed()) << name_of(path);
  }
}

TEST(Mxfp4Linear, RefusesAStreamOfAnotherDevice) {
  const Operands operands(host::random_problem(4, 16, 64, 1));
  Mxfp4Linear linear(test_device());
  const Device other = Device::simulator();
  const Result<LinearReport> report = linear(other.stream(), operands.operands(), {4, 16, 64});
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().message, "mxfp4_linear: the stream is of another device");
}

TEST(Mxfp4Linear, StreamsDoNotShareTheirWorkspaces) {
  const ProblemSize size{16, 64, 1024};
  Mxfp4Linear linear(test_device(), options_of(Backend::Compiled));
  const auto work = [&](uint64_t seed, bool &right) {
    const host::Problem problem = host::random_problem(size.m, size.n, size.k, seed);
    const Operands operands(problem);
    const Stream stream = test_device().new_stream().value();
    right = true;
    for (int call = 0; call < 4; ++call)
      for (GemmPath path : {GemmPath::Atomic, GemmPath::Workspace, GemmPath::TwoPass}) {
        right = right && linear(stream, operands.operands(), size, path).ok() && stream.synchronize().ok();
        right = right && host::compare(operands.c.to_host().value(), problem.exact).passed();
      }
  };
  bool right[3] = {};
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < 3; ++i)
    threads.emplace_back([&, i] { work(i + 1, right[i]); });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_TRUE(right[0] && right[1] && right[2]);
}

TEST(Mxfp4Linear, HoldsOneWorkspaceAStreamHoweverManyProductsItHas) {
  // The sums of 312 values of M in 8 splits are 400 MB together, of the largest 2.5 MB.
  const Device device = Device::simulator({.memory = 192 << 20});
  const int64_t n = 256, k = 2048, largest = 312;
  const auto a = device.allocate<uint16_t>(largest * k).value(),
             c = device.allocate<uint16_t>(largest * n).value();
  const auto b = device.allocate<uint8_t>(n * k / 2).value();
  const auto b_scales = device.allocate<uint8_t>(host::shuffled_scale_bytes(n, k)).value();
  Mxfp4Linear linear(device, options_of(Backend::Interpreted));
  const Partial<GemmConfig> config{.tile = {.block_m = 16}, .split_k = 8};
  for (int64_t m = 1; m <= largest; ++m) {
    const Status prepared =
        linear.prepare(device.stream(), {a, b, b_scales, c}, {m, n, k}, GemmPath::Workspace, config);
    ASSERT_TRUE(prepared.ok()) << m << ": " << prepared.error().text();
  }
  const size_t needed = 8 * largest * n * 4;
  const LinearMemory held = linear.held();
  EXPECT_GE(held.workspace_bytes, needed);
  EXPECT_LT(held.workspace_bytes, 3 * needed / 2);
  EXPECT_EQ(held.streams, 1U);
  EXPECT_EQ(held.plans, 312U);
  linear.trim();
  EXPECT_EQ(linear.held().workspace_bytes, 0U);
  EXPECT_EQ(linear.held().plans, 0U);
}

TEST(Mxfp4Linear, HoldsNothingOfStreamsThatAreGone) {
  const Operands operands(host::random_problem(4, 16, 64, 1));
  Mxfp4Linear linear(test_device(), options_of(Backend::Interpreted));
  const ProblemSize size{4, 16, 64};
  for (int i = 0; i < 5; ++i) {
    const Stream stream = test_device().new_stream().value();
    ASSERT_TRUE(linear(stream, operands.operands(), size, GemmPath::Workspace, {.split_k = 2}).ok());
    EXPECT_EQ(linear.held().streams, 1U) << "those of the streams before are gone";
  }
  EXPECT_EQ(linear.held().streams, 0U);
  EXPECT_EQ(linear.held().workspace_bytes, 0U);
}

TEST(Mxfp4Linear, IsCapturedAndReplayedOnOtherOperands) {
  const ProblemSize size{20, 48, 1056};
  const host::Problem problems[] = {host::random_problem(size.m, size.n, size.k, 1),
                                    host::random_problem(size.m, size.n, size.k, 2)};
  const Stream stream = test_device().new_stream().value();
  const std::pair<GemmPath, Partial<GemmConfig>> products[] = {
      {GemmPath::Fused, {}},
      {GemmPath::Atomic, {}},
      {GemmPath::Workspace, {}},
      {GemmPath::Workspace, {.split_k = 4, .reduce = Reduce::LastArrival}},
      {GemmPath::TwoPass, {}}};
  for (const auto &[path, config] : products) {
    Operands first(problems[0]), second(problems[1]);
    Mxfp4Linear linear(test_device(), options_of(Backend::Compiled));
    ASSERT_TRUE(linear.prepare(stream, first.operands(), size, path, config).ok());
    const auto capture = [&](const Operands &operands) {
      return stream.capture([&]() -> Status {
        NEREID_CHECK(linear(stream, operands.operands(), size, path, config));
        return {};
      });
    };
    const Result<Graph> graph = capture(first), other = capture(second);
    ASSERT_TRUE(graph.ok()) << graph.error().text();
    EXPECT_EQ(first.c.to_host().value(), std::vector<uint16_t>(size.m * size.n, 0xffff));
    // The graph keeps the workspace that it was captured with.
    linear.trim();
    for (int replay = 0; replay < 2; ++replay) {
      ASSERT_TRUE(first.c.fill(0xffff).ok());
      ASSERT_TRUE(graph->launch(stream).ok());
      ASSERT_TRUE(stream.synchronize().ok());
      EXPECT_TRUE(host::compare(first.c.to_host().value(), problems[0].exact).passed()) << name_of(path);
    }
    ASSERT_TRUE(graph->update(*other).ok());
    ASSERT_TRUE(first.c.fill(0xffff).ok());
    ASSERT_TRUE(graph->launch(stream).ok());
    ASSERT_TRUE(stream.synchronize().ok());
    EXPECT_TRUE(host::compare(second.c.to_host().value(), problems[1].exact).passed()) << name_of(path);
    EXPECT_EQ(first.c.to_host().value(), std::vector<uint16_t>(size.m * size.n, 0xffff));
  }
}

TEST(Mxfp4Linear, InACaptureNeitherBuildsNorAllocatesNorTunes) {
  const ProblemSize size{20, 64, 608};
  const Operands operands(host::random_problem(size.m, size.n, size.k, 3));
  const Device device = Device::simulator(); // has loaded no kernel
  const Stream stream = device.new_stream().value();
  const auto a = device.allocate<uint16_t>(size.m * size.k).value();
  const auto b = device.allocate<uint8_t>(host::shuffled_b_bytes(size.n, size.k)).value();
  const auto b_scales = device.allocate<uint8_t>(host::shuffled_scale_bytes(size.n, size.k)).value();
  const auto c = device.allocate<uint16_t>(size.m * size.n).value();
  Mxfp4Linear linear(device, options_of(Backend::Compiled));
  const auto error_of = [&](GemmPath path) {
    const Result<Graph> graph = stream.capture([&]() -> Status {
      NEREID_CHECK(linear(stream, {a, b, b_scales, c}, size, path));
      return {};
    });
    EXPECT_FALSE(graph.ok());
    EXPECT_TRUE(graph.ok() || graph.error().owner == Owner::User);
    return graph.ok() ? "" : graph.error().message;
  };
  EXPECT_EQ(error_of(GemmPath::Fused), "kernel 'mxfp4_gemm_fused' is not built for this config and these "
                                       "arguments, and its stream is being captured");
  EXPECT_EQ(error_of(GemmPath::Workspace), "mxfp4_linear: the product needs a workspace of 15360 bytes, its "
                                           "stream has one of 0 and is being captured");
  EXPECT_EQ(linear.held().workspace_bytes, 0U);
  // Without a path it takes what a call outside of a capture would take: the choice of tables and estimates.
  ASSERT_TRUE(linear.prepare(stream, {a, b, b_scales, c}, size).ok());
  LinearReport report;
  ASSERT_TRUE(stream
                  .capture([&]() -> Status {
                    NEREID_TRY(report, linear(stream, {a, b, b_scales, c}, size));
                    return {};
                  })
                  .ok());
  const GemmPlan chosen = plan_gemm(GemmPath::Auto, {}, size).value();
  EXPECT_EQ(report.path, chosen.path);
  EXPECT_EQ(config_text(report.gemm), config_text(chosen.gemm));
}

TEST(Mxfp4Linear, AfterALaunchThatFailedItsCountersAreNewOnes) {
  const ProblemSize size{20, 48, 1056};
  const host::Problem problem = host::random_problem(size.m, size.n, size.k, 3);
  const Operands operands(problem, budgeted_device());
  const Partial<GemmConfig> config{.split_k = 4, .reduce = Reduce::LastArrival};
  Mxfp4Linear linear(budgeted_device(), options_of(Backend::Compiled));
  const auto call = [&](const LinearOperands &on) {
    return linear(budgeted_device().stream(), on, size, GemmPath::Workspace, config).ok();
  };
  ASSERT_TRUE(call(operands.operands()));
  {
    // Some programs count themselves before this ends them.
    const LaunchBudget budget(2000);
    ASSERT_FALSE(call(operands.operands()));
  }
  ASSERT_TRUE(call(operands.operands()));
  EXPECT_TRUE(host::compare(operands.c.to_host().value(), problem.exact).passed());
}

TEST(Mxfp4Linear, AfterAReplayThatFailedItsCountersAreZero) {
  const ProblemSize size{20, 48, 1056};
  const host::Problem problem = host::random_problem(size.m, size.n, size.k, 3);
  Operands operands(problem, budgeted_device());
  const Stream stream = budgeted_device().new_stream().value();
  Mxfp4Linear linear(budgeted_device(), options_of(Backend::Compiled));
  const auto call = [&]() -> Status {
    NEREID_CHECK(linear(stream, operands.operands(), size, GemmPath::Workspace,
                        {.split_k = 4, .reduce = Reduce::LastArrival}));
    return {};
  };
  ASSERT_TRUE(call().ok());
  const Result<Graph> graph = stream.capture(call);
  ASSERT_TRUE(graph.ok()) << graph.error().text();
  const auto replay = [&] { return graph->launch(stream); };
  for (const std::function<Status()> &next :
       {std::function<Status()>(replay), std::function<Status()>(call)}) {
    {
      // Some programs count themselves before this ends them.
      const LaunchBudget budget(2000);
      ASSERT_FALSE(replay().ok());
    }
    ASSERT_TRUE(operands.c.fill(0xffff).ok());
    ASSERT_TRUE(next().ok());
    EXPECT_TRUE(host::compare(operands.c.to_host().value(), problem.exact).passed());
  }
}

TEST(Mxfp4Linear, RefusesBadShapes) {
  const Operands operands(host::random_problem(4, 16, 64, 1));
  EXPECT_EQ(linear_error(operands.operands(), {4, 16, 48}).message, "K = 48 is not a multiple of 32");
  EXPECT_EQ(linear_error(operands.operands(), {4, 24, 64}).message, "N = 24 is not a multiple of 16");
  EXPECT_EQ(linear_error(operands.operands(), {0, 16, 64}).owner, Owner::User);
  EXPECT_EQ(linear_error(operands.operands(), {1 << 21, 16, 64}).message,
            "M = 2097152 is too large: it is at most 1048576");
}

TEST(Mxfp4Linear, RefusesNullAndShortOperands) {
  const Operands operands(host::random_problem(4, 16, 64, 1));
  LinearOperands null_a = operands.operands();
  null_a.a = {};
  EXPECT_EQ(linear_error(null_a, {4, 16, 64}).message, "mxfp4_linear: operand a is null");
  LinearOperands null_c = operands.operands();
  null_c.c = {};
  EXPECT_EQ(linear_error(null_c, {4, 16, 64}).message, "mxfp4_linear: operand c is null");
  EXPECT_EQ(linear_error(operands.operands(), {5, 16, 64}).message,
            "mxfp4_linear: operand a has 512 bytes where 640 are needed");
  EXPECT_EQ(linear_error(operands.operands(), {4, 16, 64}, GemmPath::Fused, {.split_k = 2}).message,
            "--config split_k=2 contradicts --path fused");
}

TEST(Mxfp4Linear, RecognisesPlainScalesByTheirLength) {
  const Operands operands(host::random_problem(4, 16, 64, 1));
  LinearOperands plain = operands.operands();
  plain.b_scales.bytes = 32;
  EXPECT_EQ(
      linear_error(plain, {4, 16, 64}).message,
      "mxfp4_linear: b_scales has 32 bytes, the length of plain scales [n, k/32]; shuffled ones have 2048");
}

TEST(Mxfp4Gemm, AddsAlphaTimesProductAndBetaTimesC) {
  const ProblemSize size{20, 48, 352};
  const host::Problem problem = host::random_problem(size.m, size.n, size.k, 9);
  const host::MxMatrix a = host::quantize_even(problem.a, size.m, size.k);
  const std::vector<uint16_t> c = host::normal_bf16(size.m * size.n, 4, 8.0);
  std::vector<double> expected(problem.exact.size());
  for (size_t i = 0; i < expected.size(); ++i)
    expected[i] = 0.5 * problem.exact[i] - 2.0 * host::bf16_to_float(c[i]);

  const Device &device = test_device();
  const auto codes = device.upload(a.codes).value();
  const auto scales = device.upload(host::shuffle_scales(a.scales, size.m, size.k, 255).value()).value();
  const auto b = device.upload(problem.b).value();
  const auto b_scales = device.upload(problem.b_scales).value();
  const auto c_buffer = device.upload(c).value();
  const Epilogue epilogue{.alpha = 0.5F, .beta = -2.0F, .c = c_buffer};
  for (Backend backend : backends) {
    const LaunchTarget target{device.stream(), options_of(backend)};
    for (int split_k : {1, 2}) {
      Buffer<uint16_t> d = device.allocate<uint16_t>(size.m * size.n).value();
      ASSERT_TRUE(d.fill(0xffff).ok());
      const GemmConfig config = gemm_kernel.complete({.split_k = split_k}, size).value();
      if (split_k == 1) {
        ASSERT_TRUE(gemm_kernel.launch(target, config, size, {codes, scales, b, b_scales, d, epilogue}).ok());
      } else {
        const Buffer<float> slices = device.allocate<float>(size.m * size.n * split_k).value();
        ASSERT_TRUE(gemm_kernel.launch(target, config, size, {codes, scales, b, b_scales, slices}).ok());
        const ReduceConfig reduce = reduce_kernel.complete({.split_k = split_k}, size).value();
        ASSERT_TRUE(reduce_kernel.launch(target, reduce, size, {slices, d, epilogue}).ok());
      }
      EXPECT_TRUE(host::compare(d.to_host().value(), expected).passed()) << name_of(backend) << split_k;
    }
  }
}
