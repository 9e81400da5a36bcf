// Compiles in processes of their own: by NEREID_COMPILE_TIMEOUT, and several at once.
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <thread>

#include <gtest/gtest.h>

#include "jit/isolated_compile.h"
#include "tests/jit/sample_kernels.h"
#include "tests/jit/temporary_directory.h"

namespace nereid::test {
namespace {

constexpr const char *variable = "NEREID_COMPILE_TIMEOUT";

TEST(IsolatedCompile, GivesTheSameKernel) {
  const Kernel kernel("add", add);
  const auto here = kernel.compile(AddConfig{}, {}, Device::simulator());
  const ScopedEnvironment timeout(variable, "60");
  const auto there = kernel.compile(AddConfig{}, {}, Device::simulator());
  ASSERT_TRUE(here) << here.error().text();
  ASSERT_TRUE(there) << there.error().text();
  const SharedBytes a = (*here)->code_object(), b = (*there)->code_object();
  EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin(), b.end()));
  EXPECT_EQ((*here)->resources(), (*there)->resources());
  EXPECT_GT((*there)->times().codegen, 0) << "the milliseconds of the process that compiled";
}

TEST(IsolatedCompile, EndsWhenItsTimeIsOver) {
  const ScopedEnvironment timeout(variable, "0.001");
  const auto compiled = Kernel("add", add).compile(AddConfig{.block = 2048}, {}, Device::simulator());
  ASSERT_FALSE(compiled);
  EXPECT_EQ(compiled.error().owner, Owner::User);
  EXPECT_NE(compiled.error().message.find("kernel 'add' compiles longer than the 0.001 s"), std::string::npos)
      << compiled.error().text();
  EXPECT_NE(compiled.error().remedy.find("allow it more seconds"), std::string::npos);
}

TEST(IsolatedCompile, ReportsErrorsOfTheCompileAsTheyAre) {
  const auto failing = [](JitTimes &) -> Result<jit::Binary> {
    return user_error("too large", "Make it smaller", {"kernel.cpp", 7});
  };
  JitTimes times;
  const Result<jit::Binary> compiled = jit::compile_isolated("k", 60, failing, times);
  ASSERT_FALSE(compiled);
  EXPECT_EQ(compiled.error().owner, Owner::User);
  EXPECT_EQ(compiled.error().message, "too large");
  EXPECT_EQ(compiled.error().remedy, "Make it smaller");
  EXPECT_EQ(compiled.error().where.line, 7u);
}

TEST(IsolatedCompile, SurvivesACrash) {
  const auto crashing = [](JitTimes &) -> Result<jit::Binary> {
    std::raise(SIGSEGV);
    return jit::Binary();
  };
  JitTimes times;
  const Result<jit::Binary> compiled = jit::compile_isolated("k", 60, crashing, times);
  ASSERT_FALSE(compiled);
  EXPECT_EQ(compiled.error().owner, Owner::Nereid);
  EXPECT_NE(compiled.error().message.find("kernel 'k' compiles ended with signal 11"), std::string::npos);
}

TEST(IsolatedCompile, NeedsNoStatusOfItsProcess) {
  // Then the kernel takes the status of every child.
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  {
    const ScopedEnvironment timeout(variable, "60");
    const auto compiled = Kernel("add", add).compile(AddConfig{}, {}, Device::simulator());
    EXPECT_TRUE(compiled) << compiled.error().text();
  }
  std::signal(SIGCHLD, before);
}

TEST(IsolatedCompile, RefusesATimeThatIsNone) {
  for (const char *text : {"soon", "0", "-1", "5s", "inf", "nan"}) {
    const ScopedEnvironment timeout(variable, text);
    const auto compiled = Kernel("add", add).compile(AddConfig{}, {}, Device::simulator());
    ASSERT_FALSE(compiled) << text;
    EXPECT_EQ(compiled.error().owner, Owner::User);
    EXPECT_NE(compiled.error().message.find(std::string("NEREID_COMPILE_TIMEOUT='") + text),
              std::string::npos);
  }
}

TEST(IsolatedCompile, WorksInSeveralThreads) {
  const ScopedEnvironment timeout(variable, "60");
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "a fork beside other threads may leave the sanitizer's allocator locked in the child";
#endif
  std::vector<std::thread> threads;
  std::vector<int> good(4);
  for (size_t i = 0; i < good.size(); ++i)
    threads.emplace_back([&good, i] {
      const AddConfig config{.block = 256 << i};
      good[i] = Kernel("add", add).compile(config, {}, Device::simulator()).ok();
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(good, std::vector<int>(good.size(), 1));
}

TEST(CompileAll, CompilesSeveralKernelsAndKeepsTheirErrorsApart) {
  const Device device = Device::simulator();
  const Kernel kernel("add", add);
  std::vector<CompileFunction> functions;
  for (const int block : {256, 512, 1024})
    functions.emplace_back([&kernel, block](const Device &on) -> Result<CompiledKernels> {
      NEREID_TRY(auto compiled, kernel.compile(AddConfig{.block = block}, {}, on));
      return CompiledKernels{compiled};
    });
  functions.emplace_back([](const Device &) -> Result<CompiledKernels> { std::abort(); });
  int finished = 0;
  const auto compiled = compile_all(functions, device, {.workers = 2, .seconds = 60}, [&] { ++finished; });
  ASSERT_EQ(compiled.size(), 4u);
  EXPECT_EQ(finished, 4);
  for (size_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(compiled[i]) << compiled[i].error().text();
    EXPECT_GT(compiled[i]->at(0)->code_object().size(), 0u);
    EXPECT_EQ(compiled[i]->at(0)->times().codegen, 0) << "this process compiled nothing";
  }
  ASSERT_FALSE(compiled[3]);
  EXPECT_NE(compiled[3].error().message.find("signal 6"), std::string::npos);
}

TEST(CompileAll, RefusesSecondsThatAreNoNumber) {
  const std::vector<CompileFunction> functions(
      2, [](const Device &) -> Result<CompiledKernels> { return CompiledKernels{}; });
  const auto compiled = compile_all(functions, Device::simulator(), {.seconds = std::nan("")});
  ASSERT_EQ(compiled.size(), 2u);
  for (const Result<CompiledKernels> &one : compiled) {
    ASSERT_FALSE(one);
    EXPECT_EQ(one.error().owner, Owner::User);
    EXPECT_NE(one.error().message.find("are no number"), std::string::npos);
  }
}

} // namespace
} // namespace nereid::test
