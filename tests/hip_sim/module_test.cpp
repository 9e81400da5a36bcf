// Modules, launches, faults, and calls that fail because a test asked for it.
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/hip_sim/library.h"

namespace nereid::hip_sim::test {
namespace {

using HipModule = HipTest;

TEST_F(HipModule, IsLoadedFromMemoryAndFromAFile) {
  hipModule_t module = nullptr;
  hipFunction_t function = nullptr;
  ASSERT_EQ(hip.hipModuleLoad(&module, NEREID_HIP_KERNELS), hipSuccess);
  EXPECT_EQ(hip.hipModuleGetFunction(&function, module, "add"), hipSuccess);
  EXPECT_EQ(hip.hipModuleGetFunction(&function, module, "nothing"), hipErrorNotFound);
  EXPECT_EQ(hip.hipModuleUnload(module), hipSuccess);
  EXPECT_EQ(hip.hipModuleUnload(module), hipErrorInvalidHandle);
  EXPECT_EQ(hip.hipModuleGetFunction(&function, module, "add"), hipErrorInvalidHandle);
  EXPECT_EQ(hip.hipModuleLoad(&module, "/nowhere/kernel.co"), hipErrorFileNotFound);
  std::vector<char> damaged = code_object();
  damaged.resize(200);
  std::memset(damaged.data() + 16, 0, 100);
  EXPECT_EQ(hip.hipModuleLoadData(&module, damaged.data()), hipErrorInvalidImage);
  EXPECT_EQ(hip.hipModuleLoadData(&module, nullptr), hipErrorInvalidValue);
}

TEST_F(HipModule, IsLoadedFromNoFileWithoutAnEnd) {
  char directory[] = "/tmp/nereid-hip-XXXXXX";
  ASSERT_NE(mkdtemp(directory), nullptr);
  const std::string pipe = std::string(directory) + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  hipModule_t module = nullptr;
  for (const std::string &path : {std::string(directory), pipe, std::string("/dev/zero")})
    EXPECT_EQ(hip.hipModuleLoad(&module, path.c_str()), hipErrorFileNotFound) << path;
  EXPECT_EQ(module, nullptr);
  unlink(pipe.c_str());
  rmdir(directory);
}

TEST_F(HipModule, IsFoundInABundleOfHipcc) {
  // clang-offload-bundler's layout: magic, count, then (offset, size, length of name, name) for each.
  std::string bundle = "__CLANG_OFFLOAD_BUNDLE__";
  const auto number = [&](uint64_t value) { bundle.append(reinterpret_cast<const char *>(&value), 8); };
  const std::string host = "host-x86_64-unknown-linux--", device = "hipv4-amdgcn-amd-amdhsa--gfx950";
  number(2);
  for (const std::string &name : {host, device}) {
    number(4096);
    number(name == host ? 0 : code_object().size());
    number(name.size());
    bundle += name;
  }
  std::string other = bundle;
  bundle.resize(4096);
  bundle.append(code_object().begin(), code_object().end());
  hipModule_t module = nullptr;
  ASSERT_EQ(hip.hipModuleLoadData(&module, bundle.data()), hipSuccess);
  EXPECT_EQ(hip.hipModuleUnload(module), hipSuccess);
  other.replace(other.find("gfx950"), 6, "gfx942");
  EXPECT_EQ(hip.hipModuleLoadData(&module, other.data()), hipErrorInvalidImage);
}

TEST_F(HipModule, KernelsTellWhatTheyNeed) {
  int value = -1;
  EXPECT_EQ(hip.hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, kernel("reversed")),
            hipSuccess);
  EXPECT_EQ(value, 4096);
  EXPECT_EQ(hip.hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel("reversed")),
            hipSuccess);
  EXPECT_EQ(value, 64);
  EXPECT_EQ(hip.hipFuncGetAttribute(&value, 99, kernel("add")), hipErrorInvalidValue);
  EXPECT_EQ(hip.hipFuncGetAttribute(&value, 0, nullptr), hipErrorInvalidDeviceFunction);
  // A wave on each of 4 SIMDs, 8 waves each; with all of LDS one workgroup.
  EXPECT_EQ(hip.hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&value, kernel("add"), 256, 0),
            hipSuccess);
  EXPECT_EQ(value, 8);
  EXPECT_EQ(hip.hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&value, kernel("add"), 256, 163840),
            hipSuccess);
  EXPECT_EQ(value, 1);
}

TEST_F(HipModule, GlobalsAndFatBinariesAreRefused) {
  hipModule_t module = nullptr;
  ASSERT_EQ(hip.hipModuleLoadData(&module, code_object().data()), hipSuccess);
  void *pointer = nullptr;
  size_t size = 0;
  EXPECT_EQ(hip.hipModuleGetGlobal(&pointer, &size, module, "table"), hipErrorNotSupported);
  EXPECT_EQ(hip.hipModuleUnload(module), hipSuccess);
  EXPECT_EQ(hip.hipLaunchKernel(nullptr, {}, {}, nullptr, 0, nullptr), hipErrorNotSupported);
}

using HipLaunch = HipTest;

TEST_F(HipLaunch, TakesArgumentsOneByOneAndAsABlock) {
  int *buffer = device_ints(ones);
  EXPECT_EQ(step(nullptr, buffer, 2, 1), hipSuccess);
  struct {
    int *to;
    int factor, plus;
  } block = {buffer, 10, 4};
  size_t size = sizeof block;
  void *extra[] = {reinterpret_cast<void *>(HIP_LAUNCH_PARAM_BUFFER_POINTER), &block,
                   reinterpret_cast<void *>(HIP_LAUNCH_PARAM_BUFFER_SIZE), &size,
                   reinterpret_cast<void *>(HIP_LAUNCH_PARAM_END)};
  EXPECT_EQ(hip.hipModuleLaunchKernel(kernel("step"), 1, 1, 1, 64, 1, 1, 0, nullptr, nullptr, extra),
            hipSuccess);
  EXPECT_EQ(hip.hipExtModuleLaunchKernel(kernel("step"), 64, 1, 1, 64, 1, 1, 0, nullptr, nullptr, extra,
                                         nullptr, nullptr, 0),
            hipSuccess);
  EXPECT_EQ(read(buffer)[63], 344); // ((1 * 2 + 1) * 10 + 4) * 10 + 4
  size = 8;
  EXPECT_EQ(hip.hipModuleLaunchKernel(kernel("step"), 1, 1, 1, 64, 1, 1, 0, nullptr, nullptr, extra),
            hipErrorInvalidValue);
}

TEST_F(HipLaunch, ThatTheDeviceCannotRunIsRefusedAtOnce) {
  int *buffer = device_ints(ones);
  int factor = 1, plus = 0;
  void *arguments[] = {&buffer, &factor, &plus};
  const auto launch = [&](const char *name, unsigned grid, unsigned block, unsigned lds) {
    return hip.hipModuleLaunchKernel(kernel(name), grid, 1, 1, block, 1, 1, lds, nullptr, arguments, nullptr);
  };
  EXPECT_EQ(launch("step", 0, 64, 0), hipErrorInvalidConfiguration);
  EXPECT_EQ(launch("step", 1, 0, 0), hipErrorInvalidConfiguration);
  EXPECT_EQ(launch("step", 1, 1025, 0), hipErrorInvalidConfiguration);
  EXPECT_EQ(launch("reversed", 1, 128, 0), hipErrorInvalidConfiguration);
  EXPECT_EQ(launch("step", 1 << 30, 1024, 0), hipErrorInvalidConfiguration);
  EXPECT_EQ(launch("reversed", 1, 64, 160 * 1024), hipErrorLaunchOutOfResources);
  EXPECT_EQ(hip.hipModuleLaunchKernel(nullptr, 1, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr),
            hipErrorInvalidDeviceFunction);
  EXPECT_EQ(hip.hipModuleLaunchKernel(kernel("step"), 1, 1, 1, 64, 1, 1, 0, nullptr, nullptr, nullptr),
            hipErrorInvalidValue);
  EXPECT_EQ(read(buffer)[0], 1);
}

TEST_F(HipLaunch, DoesNothingWhenLaunchesAreOff) {
  int *buffer = device_ints(ones);
  hip.run_launches(0);
  EXPECT_EQ(step(nullptr, buffer, 2, 0), hipSuccess);
  hip.run_launches(1);
  EXPECT_EQ(read(buffer)[0], 1);
}

TEST_F(HipLaunch, AKernelRunsOnTheDeviceThatItWasLoadedOn) {
  const hipFunction_t here = kernel("step");
  ASSERT_EQ(hip.hipSetDevice(1), hipSuccess);
  const hipStream_t there = stream(hipStreamNonBlocking);
  int *buffer = device_ints(ones);
  int factor = 2, plus = 0;
  void *arguments[] = {&buffer, &factor, &plus};
  for (const hipStream_t on : {there, hipStream_t{nullptr}})
    EXPECT_EQ(hip.hipModuleLaunchKernel(here, 1, 1, 1, 64, 1, 1, 0, on, arguments, nullptr),
              hipErrorInvalidHandle);
  EXPECT_EQ(hip.hipExtModuleLaunchKernel(here, 64, 1, 1, 64, 1, 1, 0, there, arguments, nullptr, nullptr,
                                         nullptr, 0),
            hipErrorInvalidHandle);
  EXPECT_EQ(read(buffer), ones);
}

TEST_F(HipLaunch, AFaultStaysWithTheDeviceUntilItIsReset) {
  int *buffer = device_ints(ones);
  long distance = 1000;
  void *arguments[] = {&buffer, &distance};
  EXPECT_EQ(hip.hipModuleLaunchKernel(kernel("stray"), 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr),
            hipSuccess);
  EXPECT_EQ(hip.hipDeviceSynchronize(), hipErrorIllegalAddress);
  EXPECT_NE(std::string(hip.fault()).find("stray"), std::string::npos) << hip.fault();
  EXPECT_NE(std::string(hip.fault()).find("out_of_bounds"), std::string::npos) << hip.fault();
  void *pointer = nullptr;
  EXPECT_EQ(hip.hipMalloc(&pointer, 4), hipErrorIllegalAddress);
  EXPECT_EQ(step(nullptr, buffer, 1, 0), hipErrorIllegalAddress);
  EXPECT_EQ(hip.hipStreamSynchronize(nullptr), hipErrorIllegalAddress);
  // The other device is sound.
  ASSERT_EQ(hip.hipSetDevice(1), hipSuccess);
  EXPECT_EQ(hip.hipDeviceSynchronize(), hipSuccess);
  ASSERT_EQ(hip.hipSetDevice(0), hipSuccess);
  EXPECT_EQ(hip.hipDeviceReset(), hipSuccess);
  EXPECT_EQ(hip.hipDeviceSynchronize(), hipSuccess);
  EXPECT_EQ(hip.living("memory"), 0);
}

TEST_F(HipLaunch, AKernelWithoutEndTimesOut) {
  int *buffer = device_ints(ones);
  void *arguments[] = {&buffer};
  EXPECT_EQ(hip.hipModuleLaunchKernel(kernel("spin"), 1, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr),
            hipSuccess);
  EXPECT_EQ(hip.hipStreamSynchronize(nullptr), hipErrorLaunchTimeOut);
  EXPECT_EQ(hip.hipDeviceReset(), hipSuccess);
}

using HipFailures = HipTest;

TEST_F(HipFailures, TheNthCallFailsOnceAndDoesNothing) {
  const uint64_t before = hip.calls("hipMalloc");
  ASSERT_EQ(hip.fail("hipMalloc", 2, hipErrorOutOfMemory), 0);
  void *first = nullptr, *second = nullptr;
  EXPECT_EQ(hip.hipMalloc(&first, 4), hipSuccess);
  EXPECT_EQ(hip.hipMalloc(&second, 4), hipErrorOutOfMemory);
  EXPECT_EQ(second, nullptr);
  EXPECT_EQ(hip.hipGetLastError(), hipErrorOutOfMemory);
  EXPECT_EQ(hip.living("memory"), 1);
  EXPECT_EQ(hip.hipMalloc(&second, 4), hipSuccess);
  EXPECT_EQ(hip.calls("hipMalloc"), before + 3);
  EXPECT_EQ(hip.hipFree(first), hipSuccess);
  EXPECT_EQ(hip.hipFree(second), hipSuccess);
  EXPECT_NE(hip.fail("hipNothing", 1, hipErrorUnknown), 0);
}

TEST_F(HipFailures, CanBeAskedOfEveryEntryPoint) {
  unsigned count = 0;
  for (const char *name = hip.entry(0); name; name = hip.entry(++count))
    EXPECT_EQ(hip.fail(name, 0, 0), 0) << name;
  EXPECT_GT(count, 150u);
  ASSERT_EQ(hip.fail("hipDeviceSynchronize", 1, hipErrorLaunchFailure), 0);
  EXPECT_EQ(hip.hipDeviceSynchronize(), hipErrorLaunchFailure);
  EXPECT_EQ(hip.hipDeviceSynchronize(), hipSuccess);
}

} // namespace
} // namespace nereid::hip_sim::test
