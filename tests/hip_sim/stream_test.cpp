// The order of streams and events: what waits for what, and that nothing waits for more.
#include <thread>

#include "tests/hip_sim/library.h"

namespace nereid::hip_sim::test {
namespace {

using HipStream = HipTest;

TEST_F(HipStream, WorkThatNobodyWaitedForIsNotSeen) {
  int *pinned = pinned_ints(ones);
  hipStream_t on = stream(hipStreamNonBlocking);
  ASSERT_EQ(step(on, pinned, 2, 0), hipSuccess);
  EXPECT_EQ(pinned[0], 1);
  EXPECT_EQ(hip.hipStreamSynchronize(on), hipSuccess);
  EXPECT_EQ(pinned[0], 2);
}

TEST_F(HipStream, AStreamKeepsItsOrder) {
  int *buffer = device_ints(ones);
  hipStream_t on = stream(hipStreamNonBlocking);
  EXPECT_EQ(step(on, buffer, 2, 1), hipSuccess);  // 3
  EXPECT_EQ(step(on, buffer, 10, 0), hipSuccess); // 30
  EXPECT_EQ(hip.hipMemsetD32Async(buffer, 5, 1, on), hipSuccess);
  EXPECT_EQ(step(on, buffer, 2, 0), hipSuccess);
  EXPECT_EQ(hip.hipStreamSynchronize(on), hipSuccess);
  const std::vector<int> content = read(buffer);
  EXPECT_EQ(content[0], 10);
  EXPECT_EQ(content[1], 60);
}

TEST_F(HipStream, QueriesFindTheEndOfWhatIsQueued) {
  hipStream_t on = stream(hipStreamNonBlocking);
  int *buffer = device_ints(ones);
  EXPECT_EQ(hip.hipStreamQuery(on), hipSuccess);
  EXPECT_EQ(step(on, buffer, 2, 0), hipSuccess);
  EXPECT_EQ(step(on, buffer, 2, 0), hipSuccess);
  unsigned polls = 0;
  while (hip.hipStreamQuery(on) == hipErrorNotReady)
    ++polls;
  EXPECT_EQ(polls, 2u);
  EXPECT_EQ(hip.hipGetLastError(), hipSuccess); // not ready is no error
  EXPECT_EQ(read(buffer)[0], 4);
}

TEST_F(HipStream, TheNullStreamAndBlockingStreamsWaitForEachOther) {
  int *buffer = device_ints(ones);
  hipStream_t blocking = stream();
  EXPECT_EQ(step(blocking, buffer, 2, 1), hipSuccess); // 3
  EXPECT_EQ(step(nullptr, buffer, 10, 0), hipSuccess); // 30
  EXPECT_EQ(step(blocking, buffer, 1, 1), hipSuccess); // 31
  EXPECT_EQ(hip.hipStreamSynchronize(blocking), hipSuccess);
  EXPECT_EQ(read(buffer)[0], 31);
}

TEST_F(HipStream, ANonBlockingStreamWaitsForNobody) {
  int *pinned = pinned_ints(ones), *other = pinned_ints(ones);
  hipStream_t free = stream(hipStreamNonBlocking);
  EXPECT_EQ(step(free, pinned, 2, 0), hipSuccess);
  EXPECT_EQ(step(nullptr, other, 3, 0), hipSuccess);
  EXPECT_EQ(hip.hipStreamSynchronize(nullptr), hipSuccess);
  EXPECT_EQ(other[0], 3);
  EXPECT_EQ(pinned[0], 1);
  EXPECT_EQ(hip.hipDeviceSynchronize(), hipSuccess);
  EXPECT_EQ(pinned[0], 2);
}

TEST_F(HipStream, SpecialHandlesAreTheNullStreamAndTheThreadsOwn) {
  const auto legacy = reinterpret_cast<hipStream_t>(hipStreamLegacy);
  const auto own = reinterpret_cast<hipStream_t>(hipStreamPerThread);
  int *buffer = device_ints(ones);
  EXPECT_EQ(step(own, buffer, 2, 1), hipSuccess);
  EXPECT_EQ(step(legacy, buffer, 10, 0), hipSuccess);
  EXPECT_EQ(hip.hipStreamSynchronize(legacy), hipSuccess);
  EXPECT_EQ(read(buffer)[0], 30);
  std::thread([&] { EXPECT_EQ(hip.hipStreamQuery(own), hipSuccess); }).join();
}

TEST_F(HipStream, AnEventOrdersTwoStreams) {
  int *buffer = device_ints(ones);
  hipStream_t first = stream(hipStreamNonBlocking), second = stream(hipStreamNonBlocking);
  hipEvent_t point = event(hipEventDisableTiming);
  EXPECT_EQ(step(first, buffer, 2, 1), hipSuccess);
  EXPECT_EQ(hip.hipEventRecord(point, first), hipSuccess);
  EXPECT_EQ(hip.hipStreamWaitEvent(second, point, 0), hipSuccess);
  EXPECT_EQ(step(second, buffer, 10, 0), hipSuccess);
  EXPECT_EQ(hip.hipStreamSynchronize(second), hipSuccess);
  EXPECT_EQ(read(buffer)[0], 30);
}

TEST_F(HipStream, ADestroyedStreamStillDoesItsWork) {
  int *pinned = pinned_ints(ones);
  hipStream_t gone = nullptr;
  ASSERT_EQ(hip.hipStreamCreate(&gone), hipSuccess);
  EXPECT_EQ(step(gone, pinned, 2, 0), hipSuccess);
  EXPECT_EQ(hip.hipStreamDestroy(gone), hipSuccess);
  EXPECT_EQ(hip.hipStreamSynchronize(gone), hipErrorContextIsDestroyed);
  EXPECT_EQ(hip.hipStreamDestroy(gone), hipErrorInvalidHandle);
  EXPECT_EQ(hip.hipDeviceSynchronize(), hipSuccess);
  EXPECT_EQ(pinned[0], 2);
}

TEST_F(HipStream, PageableMemoryIsReadAtOnceAndWrittenBeforeTheCallReturns) {
  int *buffer = device_ints(ones);
  hipStream_t on = stream(hipStreamNonBlocking);
  std::vector<int> host(64, 7), back(64);
  EXPECT_EQ(hip.hipMemcpyAsync(buffer, host.data(), 256, hipMemcpyHostToDevice, on), hipSuccess);
  host.assign(64, 8);
  EXPECT_EQ(hip.hipMemcpyAsync(back.data(), buffer, 256, hipMemcpyDeviceToHost, on), hipSuccess);
  EXPECT_EQ(back, std::vector<int>(64, 7));
}

TEST_F(HipStream, HostFunctionsAreCalledInOrder) {
  int *pinned = pinned_ints(ones);
  hipStream_t on = stream(hipStreamNonBlocking);
  EXPECT_EQ(step(on, pinned, 2, 0), hipSuccess);
  EXPECT_EQ(
      hip.hipLaunchHostFunc(on, [](void *data) { *static_cast<int *>(data) += 5; }, pinned), hipSuccess);
  EXPECT_EQ(step(on, pinned, 10, 0), hipSuccess);
  EXPECT_EQ(hip.hipStreamSynchronize(on), hipSuccess);
  EXPECT_EQ(pinned[0], 70);
}

TEST_F(HipStream, MoreWorkThanAQueueHoldsIsDone) {
  int *buffer = device_ints(ones);
  for (int i = 0; i < 5000; ++i)
    ASSERT_EQ(hip.hipMemsetD32Async(buffer, i, 1, nullptr), hipSuccess);
  EXPECT_EQ(read(buffer, 1)[0], 4999);
}

using HipEvent = HipTest;

TEST_F(HipEvent, TimesNeedTwoRecordedEventsOfOneDeviceThatAreReached) {
  hipEvent_t start = event(), stop = event(), untimed = event(hipEventDisableTiming);
  float ms = -1;
  EXPECT_EQ(hip.hipEventElapsedTime(&ms, start, stop), hipErrorInvalidHandle);
  EXPECT_EQ(hip.hipEventElapsedTime(nullptr, start, stop), hipErrorInvalidValue);
  EXPECT_EQ(hip.hipEventElapsedTime(&ms, nullptr, stop), hipErrorInvalidHandle);
  hipStream_t first = stream(hipStreamNonBlocking), second = stream(hipStreamNonBlocking);
  int *buffer = device_ints(ones);
  EXPECT_EQ(step(first, buffer, 1, 0), hipSuccess);
  EXPECT_EQ(hip.hipEventRecord(start, first), hipSuccess);
  EXPECT_EQ(hip.hipEventRecord(stop, second), hipSuccess);
  EXPECT_EQ(hip.hipEventRecord(untimed, second), hipSuccess);
  EXPECT_EQ(hip.hipEventSynchronize(stop), hipSuccess); // of another stream: says nothing of `start`
  EXPECT_EQ(hip.hipEventElapsedTime(&ms, start, stop), hipErrorNotReady);
  EXPECT_EQ(hip.hipEventSynchronize(start), hipSuccess);
  EXPECT_EQ(hip.hipEventElapsedTime(&ms, start, stop), hipSuccess);
  EXPECT_EQ(hip.hipEventElapsedTime(&ms, start, untimed), hipErrorInvalidHandle);
}

TEST_F(HipEvent, BelongsToItsDevice) {
  hipEvent_t here = event();
  ASSERT_EQ(hip.hipSetDevice(1), hipSuccess);
  hipEvent_t there = event();
  EXPECT_EQ(hip.hipEventRecord(here, nullptr), hipErrorInvalidHandle);
  EXPECT_EQ(hip.hipEventRecord(there, nullptr), hipSuccess);
  ASSERT_EQ(hip.hipSetDevice(0), hipSuccess);
  EXPECT_EQ(hip.hipEventRecord(here, nullptr), hipSuccess);
  EXPECT_EQ(hip.hipEventSynchronize(here), hipSuccess);
  EXPECT_EQ(hip.hipEventSynchronize(there), hipSuccess);
  float ms = 0;
  EXPECT_EQ(hip.hipEventElapsedTime(&ms, here, there), hipErrorInvalidHandle);
}

TEST_F(HipEvent, OneThatWasNeverRecordedIsReached) {
  hipEvent_t never = event();
  EXPECT_EQ(hip.hipEventQuery(never), hipSuccess);
  EXPECT_EQ(hip.hipEventSynchronize(never), hipSuccess);
  EXPECT_EQ(hip.hipStreamWaitEvent(nullptr, never, 0), hipSuccess);
  EXPECT_EQ(hip.hipEventQuery(nullptr), hipErrorInvalidHandle);
}

} // namespace
} // namespace nereid::hip_sim::test
