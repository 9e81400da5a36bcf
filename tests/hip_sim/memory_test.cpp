// Allocations, copies, fills, pools, and what is known of a pointer.
#include <cstring>

#include "tests/hip_sim/library.h"

namespace nereid::hip_sim::test {
namespace {

using HipMemory = HipTest;

TEST_F(HipMemory, CopiesGoBothWaysAndBetweenBuffers) {
  const std::vector<int> content = {1, 2, 3, 4};
  int *first = device_ints(content), *second = device_ints({9, 9, 9, 9});
  EXPECT_EQ(hip.hipMemcpy(second + 1, first, 8, hipMemcpyDeviceToDevice), hipSuccess);
  EXPECT_EQ(read(second, 4), (std::vector<int>{9, 1, 2, 9}));
  int back[4] = {};
  EXPECT_EQ(hip.hipMemcpy(back, first, sizeof back, hipMemcpyDefault), hipSuccess);
  EXPECT_EQ(std::vector<int>(back, back + 4), content);
  EXPECT_EQ(hip.hipMemcpyDtoD(first, second, 16), hipSuccess);
  EXPECT_EQ(read(first, 4), (std::vector<int>{9, 1, 2, 9}));
}

TEST_F(HipMemory, CopiesThatDoNotFitOrDoNotGoThatWayAreRefused) {
  int *buffer = device_ints({1, 2, 3, 4});
  int host[8] = {};
  EXPECT_EQ(hip.hipMemcpy(host, buffer, 20, hipMemcpyDeviceToHost), hipErrorInvalidValue);
  EXPECT_EQ(hip.hipMemcpy(host, buffer + 4, 4, hipMemcpyDeviceToHost), hipErrorInvalidValue);
  EXPECT_EQ(hip.hipMemcpy(buffer, host, 16, hipMemcpyDeviceToHost), hipErrorInvalidValue);
  EXPECT_EQ(hip.hipMemcpy(host, buffer, 16, static_cast<hipMemcpyKind>(7)), hipErrorInvalidMemcpyDirection);
  EXPECT_EQ(hip.hipMemcpy(nullptr, buffer, 16, hipMemcpyDeviceToHost), hipErrorInvalidValue);
  EXPECT_EQ(hip.hipMemcpy(nullptr, nullptr, 0, hipMemcpyDeviceToHost), hipSuccess);
}

TEST_F(HipMemory, RowsHaveAPitch) {
  int *buffer = device_ints({0, 0, 0, 0, 0, 0});
  const int rows[] = {1, 2, 3, 4};
  EXPECT_EQ(hip.hipMemcpy2D(buffer, 12, rows, 8, 8, 2, hipMemcpyHostToDevice), hipSuccess);
  EXPECT_EQ(read(buffer, 6), (std::vector<int>{1, 2, 0, 3, 4, 0}));
  EXPECT_EQ(hip.hipMemcpy2D(buffer, 4, rows, 8, 8, 2, hipMemcpyHostToDevice), hipErrorInvalidPitchValue);
  EXPECT_EQ(hip.hipMemcpy2D(buffer, 20, rows, 8, 8, 2, hipMemcpyHostToDevice), hipErrorInvalidValue);
}

TEST_F(HipMemory, FillsWriteValuesOfOneTwoAndFourBytes) {
  int *buffer = device_ints({0, 0, 0, 0});
  EXPECT_EQ(hip.hipMemset(buffer, 0x101, 4), hipSuccess); // of an int it is the low byte
  EXPECT_EQ(hip.hipMemsetD16(buffer + 1, 0x1234, 2), hipSuccess);
  EXPECT_EQ(hip.hipMemsetD32(buffer + 2, -2, 1), hipSuccess);
  EXPECT_EQ(read(buffer, 4), (std::vector<int>{0x01010101, 0x12341234, -2, 0}));
  EXPECT_EQ(hip.hipMemsetD32(buffer, 1, 5), hipErrorInvalidValue);
  EXPECT_EQ(hip.hipMemset(nullptr, 1, 4), hipErrorInvalidValue);
  int host = 0;
  EXPECT_EQ(hip.hipMemset(&host, 1, 4), hipErrorInvalidValue);
}

TEST_F(HipMemory, ADeviceHasWhatTheEnvironmentGivesIt) {
  void *first = nullptr, *second = nullptr;
  EXPECT_EQ(hip.hipMalloc(&first, size_t{3} << 30), hipSuccess);
  EXPECT_EQ(hip.hipMalloc(&second, size_t{2} << 30), hipErrorOutOfMemory);
  EXPECT_EQ(second, nullptr);
  size_t free = 0, total = 0;
  EXPECT_EQ(hip.hipMemGetInfo(&free, &total), hipSuccess);
  EXPECT_EQ(free, size_t{1} << 30);
  // The other device has its own.
  ASSERT_EQ(hip.hipSetDevice(1), hipSuccess);
  EXPECT_EQ(hip.hipMalloc(&second, size_t{2} << 30), hipSuccess);
  EXPECT_EQ(hip.living("bytes"), int64_t{5} << 30);
  EXPECT_EQ(hip.hipFree(first), hipSuccess);
  EXPECT_EQ(hip.hipFree(first), hipErrorInvalidValue);
  EXPECT_EQ(hip.hipFree(second), hipSuccess);
  EXPECT_EQ(hip.hipFree(nullptr), hipSuccess);
}

TEST_F(HipMemory, PointersSayWhoseTheyAre) {
  int *buffer = device_ints(ones), *pinned = pinned_ints(ones);
  int host = 0;
  hipPointerAttribute_t known;
  ASSERT_EQ(hip.hipPointerGetAttributes(&known, buffer + 1), hipSuccess);
  EXPECT_EQ(known.type, hipMemoryTypeDevice);
  EXPECT_EQ(known.device, 0);
  EXPECT_EQ(known.devicePointer, buffer + 1);
  EXPECT_EQ(known.hostPointer, nullptr);
  ASSERT_EQ(hip.hipPointerGetAttributes(&known, pinned), hipSuccess);
  EXPECT_EQ(known.type, hipMemoryTypeHost);
  EXPECT_EQ(known.hostPointer, pinned);
  ASSERT_EQ(hip.hipPointerGetAttributes(&known, &host), hipSuccess);
  EXPECT_EQ(known.type, hipMemoryTypeUnregistered);
  void *base = nullptr;
  size_t size = 0;
  EXPECT_EQ(hip.hipMemGetAddressRange(&base, &size, buffer + 3), hipSuccess);
  EXPECT_EQ(base, buffer);
  EXPECT_EQ(size, ones.size() * sizeof(int));
}

TEST_F(HipMemory, KernelsReachPinnedManagedAndRegisteredMemory) {
  int *pinned = pinned_ints(ones);
  std::vector<int> own = ones;
  void *managed = nullptr;
  ASSERT_EQ(hip.hipMallocManaged(&managed, ones.size() * sizeof(int), 1), hipSuccess);
  std::copy(ones.begin(), ones.end(), static_cast<int *>(managed));
  ASSERT_EQ(hip.hipHostRegister(own.data(), own.size() * sizeof(int), 0), hipSuccess);
  EXPECT_EQ(hip.hipHostRegister(own.data(), own.size() * sizeof(int), 0),
            hipErrorHostMemoryAlreadyRegistered);
  for (int *to : {pinned, own.data(), static_cast<int *>(managed)})
    EXPECT_EQ(step(nullptr, to, 2, 3), hipSuccess);
  EXPECT_EQ(hip.hipDeviceSynchronize(), hipSuccess);
  for (const int *to : {pinned, own.data(), static_cast<int *>(managed)})
    EXPECT_EQ(to[63], 5);
  EXPECT_EQ(hip.hipHostUnregister(own.data()), hipSuccess);
  EXPECT_EQ(hip.hipHostUnregister(own.data()), hipErrorHostMemoryNotRegistered);
  EXPECT_EQ(hip.hipFree(managed), hipSuccess);
}

TEST_F(HipMemory, StreamsOrderAllocationsOfAPool) {
  hipStream_t on = stream(hipStreamNonBlocking);
  void *pointer = nullptr;
  ASSERT_EQ(hip.hipMallocAsync(&pointer, 256, on), hipSuccess);
  EXPECT_EQ(hip.hipMemsetAsync(pointer, 0, 256, on), hipSuccess);
  EXPECT_EQ(step(on, static_cast<int *>(pointer), 1, 7), hipSuccess);
  EXPECT_EQ(hip.hipFreeAsync(pointer, on), hipSuccess);
  hipMemPool_t pool = nullptr;
  ASSERT_EQ(hip.hipDeviceGetDefaultMemPool(&pool, 0), hipSuccess);
  uint64_t used = 0;
  EXPECT_EQ(hip.hipMemPoolGetAttribute(pool, hipMemPoolAttrUsedMemCurrent, &used), hipSuccess);
  EXPECT_EQ(used, 256u); // its end is queued
  EXPECT_EQ(hip.hipStreamSynchronize(on), hipSuccess);
  EXPECT_EQ(hip.hipMemPoolGetAttribute(pool, hipMemPoolAttrUsedMemCurrent, &used), hipSuccess);
  EXPECT_EQ(used, 0u);
  uint64_t threshold = ~uint64_t{0};
  EXPECT_EQ(hip.hipMemPoolSetAttribute(pool, hipMemPoolAttrReleaseThreshold, &threshold), hipSuccess);
  EXPECT_EQ(hip.hipMemPoolTrimTo(pool, 0), hipSuccess);
  EXPECT_EQ(hip.hipMemPoolTrimTo(nullptr, 0), hipErrorInvalidValue);
}

TEST_F(HipMemory, DevicesCopyToEachOther) {
  int *first = device_ints({1, 2, 3, 4});
  ASSERT_EQ(hip.hipSetDevice(1), hipSuccess);
  int *second = device_ints({0, 0, 0, 0});
  hipPointerAttribute_t known;
  ASSERT_EQ(hip.hipPointerGetAttributes(&known, second), hipSuccess);
  EXPECT_EQ(known.device, 1);
  EXPECT_EQ(hip.hipMemcpyPeer(second, 1, first, 0, 16), hipSuccess);
  EXPECT_EQ(read(second, 4), (std::vector<int>{1, 2, 3, 4}));
  EXPECT_EQ(hip.hipMemcpyPeer(second, 1, first, 2, 16), hipErrorInvalidDevice);
  hipStream_t on = stream();
  EXPECT_EQ(hip.hipMemcpyPeerAsync(second, 1, first + 2, 0, 8, on), hipSuccess);
  EXPECT_EQ(hip.hipStreamSynchronize(on), hipSuccess);
  EXPECT_EQ(read(second, 4), (std::vector<int>{3, 4, 3, 4}));
}

} // namespace
} // namespace nereid::hip_sim::test
