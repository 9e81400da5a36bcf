// Threads of users may have small stacks: what needs a large one brings its own.
#include "jit/compile/large_stack.h"

#include <csignal>
#include <functional>
#include <stdexcept>

#include <gtest/gtest.h>

#include "tests/jit/sample_kernels.h"
#include "tests/jit/temporary_directory.h"
#include "tests/support/small_stack.h"

namespace nereid::test {
namespace {

constexpr int chain_length = 2000;

/// Every operation needs the one before.
void chain(const AddConfig &c, Ptr<f32> z) {
  const Tile<i32> i = arange(0, c.block);
  Var value = load(z + i);
  for (int step = 0; step < chain_length; ++step)
    value = value + 1.0F;
  store(z + i, value);
}

TEST(SmallStack, ALongChainIsCompiledLaunchedAndInspected) {
  ScopedEnvironment off("NEREID_CACHE_DIR", "off");
  on_small_stack([] {
    const Device device = Device::simulator({.threads = 1});
    const auto z = device.upload(std::vector<float>(256, 1.0F)).value();
    const Kernel kernel("chain", chain);
    auto run = kernel(device.stream(), {1}, AddConfig{.block = 256}, z);
    ASSERT_TRUE(run) << run.error().text();
    EXPECT_EQ(z.to_host().value(), std::vector<float>(256, 1.0F + chain_length));
    EXPECT_TRUE(run->compiled->llvm_ir());
    EXPECT_TRUE(run->compiled->isa());
    const auto listing = run->compiled->annotated_isa();
    ASSERT_TRUE(listing) << listing.error().text();
    EXPECT_NE(listing->find("small_stack_test.cpp:"), std::string::npos);
  });
}

TEST(SmallStack, ALongChainIsInterpreted) {
  on_small_stack([] {
    const Device device = Device::simulator();
    const auto z = device.upload(std::vector<float>(256, 1.0F)).value();
    auto run = Kernel("chain", chain).launch({true}, device.stream(), {1}, AddConfig{.block = 256}, z);
    ASSERT_TRUE(run) << run.error().text();
    EXPECT_EQ(z.to_host().value(), std::vector<float>(256, 1.0F + chain_length));
  });
}

TEST(SmallStack, AFaultIsDescribedThere) {
  on_small_stack([] {
    const Device device = Device::simulator();
    const auto x = device.upload(std::vector<float>(300, 1.0F)).value();
    const auto z = device.allocate<float>(300).value();
    auto run = Kernel("copy_unmasked", copy_unmasked)(device.stream(), {2}, AddConfig{.block = 256}, x, z);
    ASSERT_FALSE(run);
    EXPECT_NE(run.error().where.file.find("sample_kernels.h"), std::string::npos) << run.error().text();
  });
}

/// Loops and branches in turn, one in another.
void nest(Ptr<i32> z, Int n, int depth) {
  if (depth == 0)
    store(z, load(z) + 1);
  else if (depth % 2 == 0)
    when(n > depth, [&] { nest(z, n, depth - 1); });
  else
    for (Int i : range(0, n - 98))
      nest(z, i + n, depth - 1);
}

void deeply_nested(const AddConfig &, Ptr<i32> z, Int n) { nest(z, n, 64); }

TEST(SmallStack, TheDeepestNestIsCompiledAndInterpreted) {
  ScopedEnvironment off("NEREID_CACHE_DIR", "off");
  for (bool interpret : {false, true})
    on_small_stack([&] {
      const Device device = Device::simulator({.threads = 1});
      const auto z = device.upload(std::vector<int32_t>{5}).value();
      auto run =
          Kernel("nested", deeply_nested).launch({interpret}, device.stream(), {1}, AddConfig{}, z, 99);
      ASSERT_TRUE(run) << run.error().text();
      EXPECT_EQ(z.to_host().value(), std::vector<int32_t>{6});
    });
}

/// Bytes of the stack of the calling thread.
size_t stack_bytes() {
  pthread_attr_t attributes;
  void *stack = nullptr;
  size_t bytes = 0;
  EXPECT_EQ(pthread_getattr_np(pthread_self(), &attributes), 0);
  EXPECT_EQ(pthread_attr_getstack(&attributes, &stack, &bytes), 0);
  pthread_attr_destroy(&attributes);
  return bytes;
}

TEST(LargeStack, WorkHasItOnce) {
  const Result<pthread_t> outer = jit::on_large_stack([]() -> Result<pthread_t> {
    EXPECT_GE(stack_bytes(), jit::large_stack_bytes / 16 * 15);
    const pthread_t here = pthread_self();
    const Result<pthread_t> inner = jit::on_large_stack([]() -> Result<pthread_t> { return pthread_self(); });
    EXPECT_TRUE(pthread_equal(*inner, here)) << "a thread with a large stack needs no other";
    return here;
  });
  ASSERT_TRUE(outer);
  EXPECT_FALSE(pthread_equal(*outer, pthread_self()));
}

TEST(LargeStack, ErrorsAndExceptionsComeBack) {
  const Status failed = jit::on_large_stack([]() -> Status { return user_error("no"); });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "no");
  EXPECT_THROW(jit::on_large_stack([]() -> Status { throw std::runtime_error("thrown"); }).ok(),
               std::runtime_error);
}

TEST(LargeStack, AThreadThatCannotBeIsTheEnvironments) {
  const size_t no_machine_has = size_t{1} << 60;
  bool ran = false;
  const Status status = jit::run_on_large_stack([&] { ran = true; }, no_machine_has);
  ASSERT_FALSE(status);
  EXPECT_FALSE(ran);
  EXPECT_EQ(status.error().owner, Owner::Environment);
  EXPECT_NE(status.error().message.find("1152921504606846976 bytes"), std::string::npos);
  EXPECT_NE(status.error().remedy.find("ulimit"), std::string::npos);
}

TEST(LargeStack, SignalsOfTheProcessGoToItsOwnThreads) {
  sigset_t before, inside, after;
  ASSERT_EQ(pthread_sigmask(SIG_SETMASK, nullptr, &before), 0);
  ASSERT_TRUE(jit::run_on_large_stack([&] { pthread_sigmask(SIG_SETMASK, nullptr, &inside); }));
  ASSERT_EQ(pthread_sigmask(SIG_SETMASK, nullptr, &after), 0);
  for (const int signal : {SIGINT, SIGTERM, SIGALRM, SIGUSR1}) {
    EXPECT_TRUE(sigismember(&inside, signal)) << signal;
    EXPECT_EQ(sigismember(&after, signal), sigismember(&before, signal)) << signal;
  }
  EXPECT_FALSE(sigismember(&inside, SIGSEGV));
}

} // namespace
} // namespace nereid::test
