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
#include "jit/cache/key.h"
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
    usleep(static_cast<useconds_t>(kill_number % 50) * 120);
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

TEST(SharedCache, KernelsRunWithoutADirectory) {
  ScopedEnvironment chosen("NEREID_CACHE_DIR", "/dev/full/no-directory");
  testing::internal::CaptureStderr();
  const Device device = Device::simulator();
  const auto x = device.upload(std::vector<float>(64, 1.0F)).value();
  const auto z = device.allocate<float>(64).value();
  const Kernel kernel("copy_uncached", test::copy_unmasked);
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
    std::error_code busy;
    while (!done)
      std::filesystem::remove_all(cache.directory(), busy);
  });
  int stored = 0;
  for (int i = 0; i < 300; ++i) {
    const Status status = cache.store(key_of(i % 10), info, sample_binary());
    stored += status.ok() ? 1 : 0;
    EXPECT_TRUE(status || status.error().owner == Owner::Environment);
    const std::optional<Binary> found = cache.find(key_of(i % 10));
    EXPECT_TRUE(!found || found->code_object == sample_binary().code_object);
  }
  done = true;
  remover.join();
  EXPECT_GT(stored, 0);
  EXPECT_TRUE(cache.store(key_of(0), info, sample_binary()));
  EXPECT_TRUE(cache.find(key_of(0)));
}

/// Launches from many threads at once; how many launches compiled, and how many read the disk.
struct Levels {
  std::atomic<int> none = 0, disk = 0, memory = 0;
};

void launch_numbered(const Device &device, int number, Levels &levels) {
  const Buffer<float> x = device.allocate<float>(64).value(), z = device.allocate<float>(64).value();
  const Kernel kernel("numbered_" + std::to_string(number), test::copy_unmasked);
  const auto launched = kernel(device.stream(), {1}, test::AddConfig{.block = 64, .waves = 1}, x, z);
  ASSERT_TRUE(launched) << launched.error().text();
  switch (launched->cache) {
  case CacheLevel::None:
    ++levels.none;
    break;
  case CacheLevel::Disk:
    ++levels.disk;
    break;
  case CacheLevel::Memory:
    ++levels.memory;
  }
}

TEST(SharedCache, TwentyFourThreadsCompileEachOfFiftyKernelsOnce) {
  constexpr int threads = 24, kernels = 50;
  ScopedEnvironment off("NEREID_CACHE_DIR", "off");
  const Device device = Device::simulator({.threads = 1});
  Levels levels;
  std::vector<std::thread> running;
  for (int thread = 0; thread < threads; ++thread)
    running.emplace_back([&, thread] {
      for (int i = 0; i < kernels; ++i)
        launch_numbered(device, (i + thread * 7) % kernels, levels);
    });
  for (std::thread &thread : running)
    thread.join();
  EXPECT_EQ(levels.none, kernels);
  EXPECT_EQ(levels.disk, 0);
  EXPECT_EQ(levels.memory, (threads - 1) * kernels);
}

TEST(SharedCache, DevicesOfOneProcessCompileOnceTogether) {
  constexpr int devices = 8, kernels = 6;
  TemporaryDirectory directory;
  ScopedEnvironment chosen("NEREID_CACHE_DIR", directory.path());
  Levels levels;
  std::vector<std::thread> running;
  for (int thread = 0; thread < devices; ++thread)
    running.emplace_back([&] {
      const Device device = Device::simulator({.threads = 1});
      for (int i = 0; i < kernels; ++i)
        launch_numbered(device, i, levels);
    });
  for (std::thread &thread : running)
    thread.join();
  EXPECT_EQ(levels.none, kernels);
  EXPECT_EQ(levels.disk + levels.memory, (devices - 1) * kernels);
}

TEST(SharedCache, CompilersAndVersionsDoNotMix) {
  TemporaryDirectory directory;
  const DiskCache cache(directory.path());
  const KeyParts one{"kernel @k() {}",         "",       "", "amdgcn-amd-amdhsa--gfx950",
                     "embedded LLVM 22.1.8 a", "0.1.0 x"};
  KeyParts other_compiler = one, other_version = one;
  other_compiler.compiler = "comgr 3 on LLVM 22 b";
  other_version.version = "0.1.0 y";
  int number = 0;
  for (const KeyParts &parts : {one, other_compiler, other_version})
    ASSERT_TRUE(cache.store(hash_key(parts), info, numbered(++number)));
  EXPECT_EQ(directory.files(), 3u);
  number = 0;
  for (const KeyParts &parts : {one, other_compiler, other_version})
    EXPECT_EQ(cache.find(hash_key(parts))->code_object, numbered(++number).code_object);
}

} // namespace
} // namespace nereid::jit
