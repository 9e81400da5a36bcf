// A cache directory that many processes use, that fills up, or that goes away.
#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

#include "jit/cache/disk_cache.h"
#include "tests/jit/sample_binary.h"
#include "tests/jit/sample_kernels.h"
#include "tests/jit/temporary_directory.h"

namespace nereid::jit {
namespace {

using test::key_of;
using test::sample_binary;
using test::ScopedEnvironment;
using test::TemporaryDirectory;

const CachedKernelInfo info{"add", "block=1024", "div16,-"};

/// Runs `work` in a process of its own, which ends with 0 if it gives true.
pid_t in_process(const std::function<bool()> &work) {
  const pid_t child = fork();
  if (child == 0)
    _exit(work() ? 0 : 1);
  return child;
}

bool ends_well(pid_t child) {
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// The code of a kernel tells which one it is.
Binary numbered(int kernel) {
  Binary binary = sample_binary(500 + kernel);
  binary.code_object[0] = static_cast<uint8_t>(kernel);
  return binary;
}

TEST(SharedCache, SixteenProcessesStoreAndFindTwoHundredKernels) {
  constexpr int processes = 16, kernels = 200;
  TemporaryDirectory directory;
  const DiskCache cache(directory.path());
  std::vector<pid_t> children;
  for (int process = 0; process < processes; ++process)
    children.push_back(in_process([&] {
      bool good = true;
      for (int i = 0; i < kernels; ++i) {
        const int kernel = (i * 37 + process * 13) % kernels; // each in an order of its own
        const std::optional<Binary> found = cache.find(key_of(kernel));
        good &= !found || found->code_object == numbered(kernel).code_object;
        if (!found)
          good &= cache.store(key_of(kernel), info, numbered(kernel)).ok();
      }
      return good;
    }));
  for (const pid_t child : children)
    EXPECT_TRUE(ends_well(child));
  EXPECT_EQ(directory.files(), size_t{kernels}) << "and no temporary ones";
  for (int kernel = 0; kernel < kernels; ++kernel) {
    const std::optional<Binary> found = cache.find(key_of(kernel));
    ASSERT_TRUE(found) << kernel;
    EXPECT_EQ(found->code_object, numbered(kernel).code_object);
  }
}

TEST(SharedCache, AWriterThatIsKilledLeavesNoHalfKernel) {
  constexpr int kills = 500;
  TemporaryDirectory directory;
  const DiskCache cache(directory.path());
  const Binary binary = sample_binary(20000);
  int complete = 0;
  for (int kill_number = 0; kill_number < kills; ++kill_number) {
    const std::string key = key_of(kill_number);
    const pid_t child = in_process([&] {
      while (cache.store(key, info, binary)) {
      }
      return false;
    });
    usleep(static_cast<useconds_t>(kill_number % 50) * 40);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    if (std::filesystem::exists(cache.path(key))) {
      ++complete;
      const std::optional<Binary> found = cache.find(key);
      ASSERT_TRUE(found) << "a half kernel under its name after kill " << kill_number;
      EXPECT_EQ(found->code_object, binary.code_object);
    }
  }
  EXPECT_GT(complete, 0);
  ASSERT_TRUE(cache.store(key_of(kills), info, binary)) << "what they left is in nobody's way";
}

TEST(SharedCache, AFullDiskIsAnErrorAndLeavesNoFile) {
  TemporaryDirectory directory;
  const DiskCache cache(directory.path());
  EXPECT_TRUE(ends_well(in_process([&] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{4096, 4096}; // as if the disk had no more room
    setrlimit(RLIMIT_FSIZE, &limit);
    const Status stored = cache.store(key_of(0), info, sample_binary(20000));
    return !stored && stored.error().owner == Owner::Environment &&
           stored.error().message.find("cannot write " + cache.path(key_of(0))) == 0 &&
           stored.error().message.find("File too large") != std::string::npos &&
           cache.store(key_of(1), info, sample_binary(100)).ok();
  })));
  EXPECT_EQ(directory.files(), 1u);
  EXPECT_FALSE(cache.find(key_of(0)));
  EXPECT_TRUE(cache.find(key_of(1)));
}

TEST(SharedCache, KernelsRunWhenTheDiskIsFull) {
  TemporaryDirectory directory;
  ScopedEnvironment chosen("NEREID_CACHE_DIR", "/dev/full/no-directory");
  testing::internal::CaptureStderr();
  const Device device = Device::simulator();
  const auto x = device.upload(std::vector<float>(64, 1.0F)).value();
  const auto z = device.allocate<float>(64).value();
  const Kernel kernel("copy_full", test::copy_unmasked);
  const auto launched = kernel(device.stream(), {1}, test::AddConfig{.block = 64, .waves = 1}, x, z);
  ASSERT_TRUE(launched) << launched.error().text();
  EXPECT_EQ(z.to_host().value()[63], 1.0F);
  testing::internal::GetCapturedStderr();
}

TEST(SharedCache, ADirectoryMayBeRemovedAtAnyMoment) {
  TemporaryDirectory outer;
  const DiskCache cache(outer.path() + "/cache");
  std::atomic<bool> done = false;
  std::thread remover([&] {
    while (!done)
      std::filesystem::remove_all(cache.directory());
  });
  int stored = 0;
  for (int i = 0; i < 300; ++i) {
    const Status status = cache.store(key_of(i % 10), info, sample_binary());
    stored += status.ok() ? 1 : 0;
    if (!status)
      EXPECT_EQ(status.error().owner, Owner::Environment);
    const std::optional<Binary> found = cache.find(key_of(i % 10));
    EXPECT_TRUE(!found || found->code_object == sample_binary().code_object);
  }
  done = true;
  remover.join();
  EXPECT_GT(stored, 0);
  EXPECT_TRUE(cache.store(key_of(0), info, sample_binary()));
  EXPECT_TRUE(cache.find(key_of(0)));
}

} // namespace
} // namespace nereid::jit
