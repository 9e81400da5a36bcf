// What the library says of its devices and of errors.
#include <cstring>
#include <elf.h>
#include <set>
#include <thread>

#include "tests/hip_sim/library.h"

namespace nereid::hip_sim::test {
namespace {

using HipDevice = HipTest;

TEST_F(HipDevice, TheEnvironmentSaysHowManyThereAreAndHowLargeTheyAre) {
  int count = 0;
  EXPECT_EQ(hip.hipGetDeviceCount(&count), hipSuccess);
  EXPECT_EQ(count, 2);
  size_t free = 0, total = 0;
  EXPECT_EQ(hip.hipMemGetInfo(&free, &total), hipSuccess);
  EXPECT_EQ(total, size_t{4} << 30);
  EXPECT_EQ(free, total);
}

TEST_F(HipDevice, PropertiesAreThoseOfAnMi355xWhereHip7HasThem) {
  std::vector<char> bytes(sizeof(hipDeviceProp_tR0600));
  ASSERT_EQ(hip.hipGetDevicePropertiesR0600(reinterpret_cast<hipDeviceProp_tR0600 *>(bytes.data()), 1),
            hipSuccess);
  int compute_units = 0;
  std::memcpy(&compute_units, bytes.data() + 388, sizeof compute_units);
  EXPECT_EQ(compute_units, 256);
  EXPECT_STREQ(bytes.data() + 1160, "gfx950:sramecc+:xnack-");
  hipDeviceProp_tR0000 old;
  ASSERT_EQ(hip.hipGetDeviceProperties(&old, 1), hipSuccess);
  EXPECT_STREQ(old.gcnArchName, "gfx950:sramecc+:xnack-");
  EXPECT_EQ(old.multiProcessorCount, 256);
  EXPECT_EQ(hip.hipGetDevicePropertiesR0600(nullptr, 0), hipErrorInvalidValue);
  EXPECT_EQ(hip.hipGetDeviceProperties(&old, 2), hipErrorInvalidDevice);
}

TEST_F(HipDevice, AttributesAgreeWithTheProperties) {
  const std::pair<int, int> expected[] = {{5, 2400000}, {23, 9},      {56, 1024}, {61, 5},
                                          {63, 256},    {74, 163840}, {87, 64}};
  for (const auto &[attribute, value] : expected) {
    int got = -1;
    EXPECT_EQ(hip.hipDeviceGetAttribute(&got, attribute, 0), hipSuccess) << attribute;
    EXPECT_EQ(got, value) << attribute;
  }
  int got = -1;
  EXPECT_EQ(hip.hipDeviceGetAttribute(&got, 9998, 0), hipErrorInvalidValue);
}

TEST_F(HipDevice, TheCurrentOneBelongsToTheThread) {
  ASSERT_EQ(hip.hipSetDevice(1), hipSuccess);
  std::thread([&] {
    int device = -1;
    EXPECT_EQ(hip.hipGetDevice(&device), hipSuccess);
    EXPECT_EQ(device, 0);
  }).join();
  int device = -1;
  EXPECT_EQ(hip.hipGetDevice(&device), hipSuccess);
  EXPECT_EQ(device, 1);
  EXPECT_EQ(hip.hipSetDevice(2), hipErrorInvalidDevice);
  EXPECT_EQ(hip.hipSetDevice(-1), hipErrorInvalidDevice);
}

TEST_F(HipDevice, ContextsAreAStackOfDevices) {
  hipCtx_t first = nullptr, second = nullptr, now = nullptr;
  ASSERT_EQ(hip.hipDevicePrimaryCtxRetain(&first, 0), hipSuccess);
  ASSERT_EQ(hip.hipDevicePrimaryCtxRetain(&second, 1), hipSuccess);
  ASSERT_EQ(hip.hipCtxPushCurrent(second), hipSuccess);
  int device = -1;
  EXPECT_EQ(hip.hipCtxGetDevice(&device), hipSuccess);
  EXPECT_EQ(device, 1);
  EXPECT_EQ(hip.hipCtxPopCurrent(&now), hipSuccess);
  EXPECT_EQ(now, second);
  EXPECT_EQ(hip.hipCtxGetCurrent(&now), hipSuccess);
  EXPECT_EQ(now, first);
  EXPECT_EQ(hip.hipCtxPopCurrent(&now), hipErrorInvalidContext);
}

TEST_F(HipDevice, TheLastErrorStaysUntilItIsAskedFor) {
  EXPECT_EQ(hip.hipMalloc(nullptr, 4), hipErrorInvalidValue);
  int device = 0;
  EXPECT_EQ(hip.hipGetDevice(&device), hipSuccess);
  EXPECT_EQ(hip.hipPeekAtLastError(), hipErrorInvalidValue);
  EXPECT_EQ(hip.hipGetLastError(), hipErrorInvalidValue);
  EXPECT_EQ(hip.hipGetLastError(), hipSuccess);
}

TEST_F(HipDevice, ErrorsHaveHipsNamesAndWords) {
  EXPECT_STREQ(hip.hipGetErrorName(hipErrorStreamCaptureUnsupported), "hipErrorStreamCaptureUnsupported");
  EXPECT_STREQ(hip.hipGetErrorString(hipErrorOutOfMemory), "out of memory");
  EXPECT_STREQ(hip.hipGetErrorString(static_cast<hipError_t>(12345)), "unknown error");
  const char *text = nullptr;
  EXPECT_EQ(hip.hipDrvGetErrorName(hipErrorNotReady, &text), hipSuccess);
  EXPECT_STREQ(text, "hipErrorNotReady");
  EXPECT_EQ(hip.hipDrvGetErrorName(static_cast<hipError_t>(12345), &text), hipErrorInvalidValue);
}

TEST_F(HipDevice, EntryPointsAreFoundByName) {
  void *function = nullptr;
  int status = -1;
  EXPECT_EQ(hip.hipGetProcAddress("hipMalloc", &function, 70000000, 0, &status), hipSuccess);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(function, reinterpret_cast<void *>(hip.hipMalloc));
  EXPECT_EQ(hip.hipGetProcAddress("hipNothing", &function, 70000000, 0, &status), hipErrorInvalidValue);
  EXPECT_EQ(status, 1);
}

TEST_F(HipDevice, PeersAreEnabledOnce) {
  int can = 0;
  EXPECT_EQ(hip.hipDeviceCanAccessPeer(&can, 0, 1), hipSuccess);
  EXPECT_EQ(can, 1);
  EXPECT_EQ(hip.hipDeviceCanAccessPeer(&can, 0, 0), hipSuccess);
  EXPECT_EQ(can, 0);
  EXPECT_EQ(hip.hipDeviceDisablePeerAccess(1), hipErrorPeerAccessNotEnabled);
  EXPECT_EQ(hip.hipDeviceEnablePeerAccess(1, 0), hipSuccess);
  EXPECT_EQ(hip.hipDeviceEnablePeerAccess(1, 0), hipErrorPeerAccessAlreadyEnabled);
  EXPECT_EQ(hip.hipDeviceDisablePeerAccess(1), hipSuccess);
  EXPECT_EQ(hip.hipDeviceEnablePeerAccess(0, 0), hipErrorInvalidDevice);
}

} // namespace
} // namespace nereid::hip_sim::test
