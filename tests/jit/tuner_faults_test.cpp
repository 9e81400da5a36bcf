// What candidates and hooks do wrong costs only the candidate: each reason of a rejection is seen here.
#include <chrono>
#include <csignal>
#include <limits>
#include <stdexcept>
#include <thread>

#include <sys/resource.h>

#include "jit/cache/precompiled.h"
#include "jit/compile/compiler.h"
#include "jit/device/launch_scope.h"
#include "jit/tune/resource_checks.h"
#include "jit/tune/tuner.h"
#include "tests/jit/toy_tuning.h"

namespace nereid::test {
namespace {

/// Tunes a broken candidate and a good one: the good one wins, and the other's reason is returned.
std::string reason(Toy &toy, const std::function<void(TuneRequest &, TuneCandidate &)> &break_it,
                   TuneOptions options = {}) {
  TuneRequest request = toy.request({{.block = 256}, {.block = 512}});
  break_it(request, request.candidates[0]);
  const auto report = toy.tune(request, options);
  EXPECT_TRUE(report) << report.error().text();
  if (!report)
    return "";
  EXPECT_EQ(report->winner, 1u) << report->text();
  EXPECT_FALSE(report->candidates[0].record.figure);
  EXPECT_NE(report->json().find("\"rejected\""), std::string::npos);
  return report->candidates[0].record.rejected;
}

#define EXPECT_REASON(text, expected)                                                                        \
  do {                                                                                                       \
    const std::string given = text;                                                                          \
    EXPECT_NE(given.find(expected), std::string::npos) << given;                                             \
  } while (false)

TEST(TunerFaults, CompileThatIsNoFunctionOrGivesNothing) {
  Toy toy;
  EXPECT_REASON(reason(toy, [](TuneRequest &, TuneCandidate &c) { c.compile = nullptr; }),
                "does not compile: user error: its compile is a null function");
  EXPECT_REASON(
      reason(toy, [](TuneRequest &,
                     TuneCandidate &c) { c.compile = [](const Device &) { return CompiledKernels(); }; }),
      "does not compile: user error: its compile gives no kernels");
  EXPECT_REASON(reason(toy,
                       [](TuneRequest &, TuneCandidate &c) {
                         c.compile = [](const Device &) { return CompiledKernels{nullptr}; };
                       }),
                "does not compile: user error: its compile gives a null kernel");
}

TEST(TunerWorkers, HandOverWhatTheyCompile) {
  Toy toy;
  const auto report = toy.tune(toy.request({{.block = 512}}));
  ASSERT_TRUE(report) << report.error().text();
  const CompiledKernel &kernel = *report->candidates.at(0).kernels.at(0);
  EXPECT_GT(kernel.code_object().size(), 0u);
  EXPECT_EQ(kernel.times().codegen, 0) << "this process compiled nothing";
  EXPECT_EQ(kernel.cache(), CacheLevel::None) << "and the disk cache is off";
  EXPECT_GT(kernel.resources().vgpr, 0u);
  EXPECT_FALSE(jit::PrecompiledKernels::find(kernel.key())) << "they are not kept longer than needed";
}

TEST(TunerWorkers, ThatCannotStartAreNoFaultOfTheCandidate) {
  Toy toy;
  const TuneRequest request = toy.request({{.block = 512}});
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto report = toy.tune(request);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_REASON(rejection(report, 0),
                "does not compile: environment error: cannot start a process to compile in");
}

TEST(TunerFaults, CompileThatFailsOrThrows) {
  Toy toy;
  EXPECT_REASON(reason(toy, [&](TuneRequest &, TuneCandidate &c) { c = toy.toy({.waves = 17}); }),
                "does not compile: user error: ");
  EXPECT_REASON(reason(toy,
                       [](TuneRequest &, TuneCandidate &c) {
                         c.compile = [](const Device &) -> Result<CompiledKernels> {
                           throw std::runtime_error("thrown on the way");
                         };
                       }),
                "its compile threw: thrown on the way");
  EXPECT_REASON(reason(toy,
                       [](TuneRequest &, TuneCandidate &c) {
                         c.compile = [](const Device &) -> Result<CompiledKernels> { throw 7; };
                       }),
                "threw something that is no std::exception");
}

TEST(TunerFaults, CompileThatCrashesOrExits) {
  Toy toy;
  EXPECT_REASON(reason(toy,
                       [](TuneRequest &, TuneCandidate &c) {
                         c.compile = [](const Device &) -> Result<CompiledKernels> {
                           std::raise(SIGSEGV);
                           return CompiledKernels();
                         };
                       }),
                "does not compile: user error: its process ended with signal 11");
  EXPECT_REASON(reason(toy,
                       [](TuneRequest &, TuneCandidate &c) {
                         c.compile = [](const Device &) -> Result<CompiledKernels> { std::abort(); };
                       }),
                "its process ended with signal 6");
  EXPECT_REASON(reason(toy,
                       [](TuneRequest &, TuneCandidate &c) {
                         c.compile = [](const Device &) -> Result<CompiledKernels> { std::_Exit(3); };
                       }),
                "its process ended with exit code 3");
}

TEST(TunerFaults, CompileThatHangs) {
  Toy toy;
  const auto start = std::chrono::steady_clock::now();
  EXPECT_REASON(reason(toy,
                       [](TuneRequest &, TuneCandidate &c) {
                         c.compile = [](const Device &) -> Result<CompiledKernels> {
                           for (;;)
                             std::this_thread::sleep_for(std::chrono::seconds(1));
                         };
                       },
                       {.compile_seconds = 6}),
                "does not compile: user error: it takes longer than 6 s");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
}

/// All elements stay in registers until their sum is known.
void scale_by_sum(const ToyConfig &c, Ptr<const f32> x, Ptr<f32> z) {
  Tile<i32> i = arange(0, c.block);
  Tile<f32> value = load(x + i);
  store(z + i, value * sum(value, axis(0)));
}

TEST(TunerFaults, KernelThatSpillsToMemory) {
  Toy toy;
  const Kernel heavy("scale_by_sum", scale_by_sum);
  const Buffer<float> large = toy.device.allocate<float>(8192).value();
  const Buffer<float> out = toy.device.allocate<float>(8192).value();
  // 128 elements a lane, and 64 registers.
  const ToyConfig config{.block = 8192, .waves = 1, .waves_per_eu = 8};
  EXPECT_REASON(reason(toy,
                       [&](TuneRequest &, TuneCandidate &c) {
                         c = candidate(heavy, toy.device.stream(), {1}, config, large, out);
                       }),
                "does not fit: user error: kernel 'scale_by_sum' spills to memory");
}

/// A compiled kernel as if it took these resources.
CompiledKernel with_resources(const std::shared_ptr<const CompiledKernel> &kernel,
                              const Resources &resources) {
  jit::Binary binary = *kernel->binary();
  binary.resources = resources;
  return {std::shared_ptr<const ir::Function>(kernel, &kernel->function()),
          kernel->config(),
          std::make_shared<const jit::Binary>(std::move(binary)),
          kernel->key(),
          {},
          CacheLevel::None};
}

TEST(TunerFaults, ResourcesThatRefuse) {
  Toy toy;
  const auto four = toy.toy({.waves_per_eu = 4}).compile(toy.device).value().at(0);
  const auto check = [&](const Resources &resources) {
    return jit::check_resources(with_resources(four, resources));
  };
  EXPECT_TRUE(check({.vgpr = 64, .occupancy = 4}));
  EXPECT_TRUE(check({.vgpr = 64, .spills = 9, .occupancy = 8}))
      << "scalars in lanes of registers touch no memory";
  EXPECT_REASON(check({.vgpr = 64, .scratch = 4, .occupancy = 8}).error().text(), "4 bytes of scratch");
  EXPECT_REASON(check({.vgpr = 512, .lds = 170'000}).error().text(), "a workgroup does not fit");
  EXPECT_REASON(check({.vgpr = 200, .occupancy = 2}).error().text(),
                "has 2 waves a SIMD, waves_per_eu asks for 4");
}

TEST(TunerFaults, WhatTheRequestDoesNotAccept) {
  Toy toy;
  EXPECT_REASON(reason(toy,
                       [](TuneRequest &request, TuneCandidate &) {
                         request.accept = [](const CompiledKernel &kernel) -> Status {
                           if (kernel.config().starts_with("block=256,"))
                             return user_error("not this one");
                           return {};
                         };
                       }),
                "does not fit: user error: not this one");
}

TEST(TunerFaults, RunThatIsNoFunctionFailsOrThrows) {
  Toy toy;
  EXPECT_REASON(reason(toy, [](TuneRequest &, TuneCandidate &c) { c.run = nullptr; }),
                "does not run: user error: the candidate's run is a null function");
  EXPECT_REASON(reason(toy,
                       [](TuneRequest &, TuneCandidate &c) {
                         c.run = []() -> Result<std::vector<LaunchInfo>> {
                           throw std::runtime_error("run away");
                         };
                       }),
                "does not run: user error: the candidate's run threw: run away");
  EXPECT_REASON(reason(toy,
                       [](TuneRequest &, TuneCandidate &c) {
                         c.run = []() -> Result<std::vector<LaunchInfo>> { return device_error("no way"); };
                       }),
                "does not run: device error: no way");
}

TEST(TunerFaults, CheckThatLaunchesOtherCodeThanTheRun) {
  Toy toy;
  EXPECT_REASON(reason(toy, [&](TuneRequest &, TuneCandidate &c) { c.check = toy.toy({.block = 1024}).run; }),
                "wrong: user error: its check launches other code than its run");
}

TEST(TunerFaults, RunThatGivesALaunchWithoutAKernel) {
  Toy toy;
  EXPECT_REASON(reason(toy,
                       [](TuneRequest &, TuneCandidate &c) {
                         c.run = []() -> Result<std::vector<LaunchInfo>> {
                           return std::vector<LaunchInfo>(1);
                         };
                       }),
                "does not run: user error: the candidate's run gives a launch without a kernel");
}

TEST(TunerFaults, AnEndlessKernelCostsItsBudget) {
  Toy toy;
  const auto start = std::chrono::steady_clock::now();
  EXPECT_REASON(reason(toy, [&](TuneRequest &, TuneCandidate &c) { c = toy.toy({.flaw = Flaw::Endless}); },
                       {.instructions = 1 << 20}),
                "does not run: user error: it executed its 1048576 wave instructions and has not ended");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
  // The budget is that of the candidate: launches outside know nothing of it.
  EXPECT_FALSE(LaunchBudget::left());
}

TEST(TunerFaults, ABudgetCountsAllLaunchesOfARun) {
  Toy toy;
  const TuneCandidate one = toy.toy({});
  const uint64_t needed = one.run().value().at(0).instructions->total;
  const LaunchBudget budget(needed + needed / 2);
  EXPECT_TRUE(one.run());
  EXPECT_EQ(LaunchBudget::left(), needed / 2);
  EXPECT_FALSE(one.run());
}

TEST(TunerFaults, HooksThatFailOrThrow) {
  Toy toy;
  EXPECT_REASON(reason(toy,
                       [&](TuneRequest &request, TuneCandidate &) {
                         request.prepare = [calls = 0]() mutable -> Status {
                           if (calls++ == 0)
                             throw std::runtime_error("not ready");
                           return {};
                         };
                       }),
                "cannot be prepared: user error: prepare threw: not ready");
  EXPECT_REASON(reason(toy,
                       [&](TuneRequest &request, TuneCandidate &) {
                         request.validate = [&, calls = 0]() mutable -> Status {
                           if (calls++ == 0)
                             throw std::runtime_error("no reference");
                           return toy.check();
                         };
                       }),
                "wrong: user error: validate threw: no reference");
}

TEST(TunerFaults, FiguresThatAreNone) {
  Toy toy;
  for (const double figure :
       {std::numeric_limits<double>::quiet_NaN(), -1.0, 0.0, std::numeric_limits<double>::infinity()}) {
    const FakeRanking ranking(
        [&](const std::string &config, int) { return config.starts_with("block=256,") ? figure : 5; });
    EXPECT_REASON(reason(toy, [](TuneRequest &, TuneCandidate &) {}, {.ranking = &ranking}), "no figure: ");
  }
  const FakeRanking thrower([](const std::string &config, int) -> double {
    if (config.starts_with("block=256,"))
      throw std::runtime_error("no clock");
    return 5;
  });
  EXPECT_REASON(reason(toy, [](TuneRequest &, TuneCandidate &) {}, {.ranking = &thrower}),
                "no figure: user error: the ranking threw: no clock");
}

TEST(TunerFaults, TextThatIsNotUtf8) {
  Toy toy;
  const std::string latin = "gr\xfc\xdf"
                            "e";
  EXPECT_REASON(reason(toy,
                       [&](TuneRequest &, TuneCandidate &c) {
                         c.run = [&]() -> Result<std::vector<LaunchInfo>> { return user_error(latin); };
                       }),
                latin);
  TuneRequest request = toy.request({{}});
  request.key = latin;
  EXPECT_EQ(toy.tune(request).error().owner, Owner::User);
}

} // namespace
} // namespace nereid::test
