// Capture, graphs, and their replay with other parameters.
#include <functional>
#include <thread>

#include "tests/hip_sim/library.h"

namespace nereid::hip_sim::test {
namespace {

class HipCapture : public HipTest {
protected:
  /// Captures what `body` queues on a stream; the graph is destroyed by the caller.
  template <class Body> hipGraph_t capture(hipStream_t on, Body body) {
    hipGraph_t graph = nullptr;
    EXPECT_EQ(hip.hipStreamBeginCapture(on, hipStreamCaptureModeGlobal), hipSuccess);
    body();
    EXPECT_EQ(hip.hipStreamEndCapture(on, &graph), hipSuccess);
    return graph;
  }
  size_t node_count(hipGraph_t graph) {
    size_t count = 0;
    EXPECT_EQ(hip.hipGraphGetNodes(graph, nullptr, &count), hipSuccess);
    return count;
  }
  hipStreamCaptureStatus status_of(hipStream_t on) {
    hipStreamCaptureStatus status{};
    EXPECT_EQ(hip.hipStreamIsCapturing(on, &status), hipSuccess);
    return status;
  }
};

TEST_F(HipCapture, RecordsAndDoesNotRun) {
  int *buffer = device_ints(ones);
  hipStream_t on = stream(hipStreamNonBlocking);
  hipGraph_t graph = capture(on, [&] {
    EXPECT_EQ(status_of(on), hipStreamCaptureStatusActive);
    EXPECT_EQ(step(on, buffer, 2, 1), hipSuccess);
    EXPECT_EQ(step(on, buffer, 10, 0), hipSuccess);
  });
  EXPECT_EQ(status_of(on), hipStreamCaptureStatusNone);
  EXPECT_EQ(node_count(graph), 2u);
  EXPECT_EQ(read(buffer)[0], 1);
  hipGraphExec_t exec = nullptr;
  ASSERT_EQ(hip.hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0), hipSuccess);
  EXPECT_EQ(hip.hipGraphDestroy(graph), hipSuccess); // the executable copy lives on
  EXPECT_EQ(hip.hipGraphLaunch(exec, on), hipSuccess);
  EXPECT_EQ(hip.hipGraphLaunch(exec, on), hipSuccess);
  EXPECT_EQ(hip.hipStreamSynchronize(on), hipSuccess);
  EXPECT_EQ(read(buffer)[0], 610); // 1 -> 30 -> 610
  EXPECT_EQ(hip.hipGraphExecDestroy(exec), hipSuccess);
  EXPECT_EQ(hip.hipGraphLaunch(exec, on), hipErrorInvalidValue);
}

TEST_F(HipCapture, OtherStreamsJoinByEvents) {
  int *first = device_ints(ones), *second = device_ints(ones);
  hipStream_t on = stream(hipStreamNonBlocking), side = stream(hipStreamNonBlocking);
  hipEvent_t fork = event(hipEventDisableTiming), join = event(hipEventDisableTiming);
  hipGraph_t graph = capture(on, [&] {
    EXPECT_EQ(step(on, first, 2, 0), hipSuccess);
    EXPECT_EQ(hip.hipEventRecord(fork, on), hipSuccess);
    EXPECT_EQ(hip.hipStreamWaitEvent(side, fork, 0), hipSuccess);
    EXPECT_EQ(hip.hipMemcpyAsync(second, first, 256, hipMemcpyDeviceToDevice, side), hipSuccess);
    EXPECT_EQ(hip.hipEventRecord(join, side), hipSuccess);
    EXPECT_EQ(hip.hipStreamWaitEvent(on, join, 0), hipSuccess);
    EXPECT_EQ(step(on, second, 10, 0), hipSuccess);
  });
  EXPECT_EQ(node_count(graph), 3u);
  EXPECT_EQ(status_of(side), hipStreamCaptureStatusNone);
  hipGraphExec_t exec = nullptr;
  ASSERT_EQ(hip.hipGraphInstantiateWithFlags(&exec, graph, 0), hipSuccess);
  EXPECT_EQ(hip.hipGraphLaunch(exec, on), hipSuccess);
  EXPECT_EQ(hip.hipStreamSynchronize(on), hipSuccess);
  EXPECT_EQ(read(second)[0], 20);
  EXPECT_EQ(hip.hipGraphExecDestroy(exec), hipSuccess);
  EXPECT_EQ(hip.hipGraphDestroy(graph), hipSuccess);
}

TEST_F(HipCapture, WorkThatIsNotJoinedSpoilsIt) {
  int *buffer = device_ints(ones);
  hipStream_t on = stream(hipStreamNonBlocking), side = stream(hipStreamNonBlocking);
  hipEvent_t fork = event(hipEventDisableTiming);
  ASSERT_EQ(hip.hipStreamBeginCapture(on, hipStreamCaptureModeGlobal), hipSuccess);
  EXPECT_EQ(step(on, buffer, 2, 0), hipSuccess);
  EXPECT_EQ(hip.hipEventRecord(fork, on), hipSuccess);
  EXPECT_EQ(hip.hipStreamWaitEvent(side, fork, 0), hipSuccess);
  EXPECT_EQ(step(side, buffer, 2, 0), hipSuccess);
  hipGraph_t graph = nullptr;
  EXPECT_EQ(hip.hipStreamEndCapture(side, &graph), hipErrorStreamCaptureUnmatched);
  EXPECT_EQ(hip.hipStreamEndCapture(on, &graph), hipErrorStreamCaptureUnjoined);
  EXPECT_EQ(graph, nullptr);
  EXPECT_EQ(status_of(side), hipStreamCaptureStatusNone);
}

TEST_F(HipCapture, CallsThatWaitOrAllocateInvalidateIt) {
  int *buffer = device_ints(ones);
  hipStream_t on = stream(hipStreamNonBlocking);
  hipEvent_t point = event();
  void *pointer = nullptr;
  std::vector<int> host(64);
  const struct {
    const char *name;
    hipError_t error;
    std::function<hipError_t()> call;
  } calls[] = {
      {"hipStreamSynchronize", hipErrorStreamCaptureUnsupported,
       [&] { return hip.hipStreamSynchronize(on); }},
      {"hipStreamQuery", hipErrorStreamCaptureUnsupported, [&] { return hip.hipStreamQuery(on); }},
      {"hipDeviceSynchronize", hipErrorStreamCaptureUnsupported, [&] { return hip.hipDeviceSynchronize(); }},
      {"hipMalloc", hipErrorStreamCaptureUnsupported, [&] { return hip.hipMalloc(&pointer, 4); }},
      {"hipFree", hipErrorStreamCaptureUnsupported, [&] { return hip.hipFree(buffer); }},
      {"hipMemcpy", hipErrorStreamCaptureImplicit,
       [&] { return hip.hipMemcpy(host.data(), buffer, 256, hipMemcpyDeviceToHost); }},
      {"hipMemset", hipErrorStreamCaptureImplicit, [&] { return hip.hipMemset(buffer, 0, 4); }},
      {"hipEventQuery", hipErrorCapturedEvent, [&] { return hip.hipEventQuery(point); }},
      {"hipEventSynchronize", hipErrorCapturedEvent, [&] { return hip.hipEventSynchronize(point); }},
  };
  for (const auto &[name, error, call] : calls) {
    ASSERT_EQ(hip.hipStreamBeginCapture(on, hipStreamCaptureModeGlobal), hipSuccess) << name;
    EXPECT_EQ(hip.hipEventRecord(point, on), hipSuccess) << name;
    EXPECT_EQ(call(), error) << name;
    EXPECT_EQ(status_of(on), hipStreamCaptureStatusInvalidated) << name;
    EXPECT_EQ(step(on, buffer, 2, 0), hipErrorStreamCaptureInvalidated) << name;
    hipGraph_t graph = nullptr;
    EXPECT_EQ(hip.hipStreamEndCapture(on, &graph), hipErrorStreamCaptureInvalidated) << name;
    EXPECT_EQ(graph, nullptr);
  }
  EXPECT_EQ(pointer, nullptr);
  EXPECT_EQ(read(buffer)[0], 1);
}

TEST_F(HipCapture, TheModeSaysWhoMayAllocate) {
  const auto malloc_elsewhere = [&] {
    void *pointer = nullptr;
    hipError_t error = hipSuccess;
    std::thread([&] { error = hip.hipMalloc(&pointer, 4); }).join();
    EXPECT_EQ(hip.hipFree(pointer), hipSuccess);
    return error;
  };
  const auto in_capture = [&](hipStreamCaptureMode mode, auto body) {
    hipStream_t on = stream(hipStreamNonBlocking);
    hipGraph_t graph = nullptr;
    EXPECT_EQ(hip.hipStreamBeginCapture(on, mode), hipSuccess);
    body();
    (void)hip.hipStreamEndCapture(on, &graph);
    if (graph) {
      EXPECT_EQ(hip.hipGraphDestroy(graph), hipSuccess);
    }
  };
  void *pointer = nullptr;
  in_capture(hipStreamCaptureModeRelaxed, [&] { EXPECT_EQ(hip.hipMalloc(&pointer, 4), hipSuccess); });
  EXPECT_EQ(hip.hipFree(pointer), hipSuccess);
  in_capture(hipStreamCaptureModeThreadLocal, [&] {
    hipStreamCaptureMode relaxed = hipStreamCaptureModeRelaxed;
    EXPECT_EQ(hip.hipThreadExchangeStreamCaptureMode(&relaxed), hipSuccess);
    EXPECT_EQ(malloc_elsewhere(), hipSuccess);
    EXPECT_EQ(hip.hipThreadExchangeStreamCaptureMode(&relaxed), hipSuccess);
    EXPECT_EQ(hip.hipMalloc(&pointer, 4), hipErrorStreamCaptureUnsupported);
  });
  in_capture(hipStreamCaptureModeGlobal, [&] {
    std::thread([&] { EXPECT_EQ(hip.hipMalloc(&pointer, 4), hipErrorStreamCaptureUnsupported); }).join();
  });
}

TEST_F(HipCapture, NeedsAStreamOfItsOwnAndItsThread) {
  hipGraph_t graph = nullptr;
  EXPECT_EQ(hip.hipStreamBeginCapture(nullptr, hipStreamCaptureModeGlobal), hipErrorStreamCaptureUnsupported);
  hipStream_t on = stream();
  EXPECT_EQ(hip.hipStreamEndCapture(on, &graph), hipErrorIllegalState);
  ASSERT_EQ(hip.hipStreamBeginCapture(on, hipStreamCaptureModeThreadLocal), hipSuccess);
  EXPECT_EQ(hip.hipStreamBeginCapture(on, hipStreamCaptureModeThreadLocal), hipErrorIllegalState);
  std::thread([&] {
    EXPECT_EQ(hip.hipStreamEndCapture(on, &graph), hipErrorStreamCaptureWrongThread);
  }).join();
  // Work on the null stream would wait for the capturing one.
  EXPECT_EQ(hip.hipEventRecord(event(), nullptr), hipErrorStreamCaptureImplicit);
  EXPECT_EQ(hip.hipStreamEndCapture(on, &graph), hipErrorStreamCaptureInvalidated);
}

TEST_F(HipCapture, WaitingForUncapturedWorkIsRefused) {
  hipStream_t on = stream(hipStreamNonBlocking);
  hipEvent_t outside = event();
  EXPECT_EQ(hip.hipEventRecord(outside, nullptr), hipSuccess);
  ASSERT_EQ(hip.hipStreamBeginCapture(on, hipStreamCaptureModeGlobal), hipSuccess);
  EXPECT_EQ(hip.hipStreamWaitEvent(on, outside, 0), hipErrorStreamCaptureIsolation);
  hipGraph_t graph = nullptr;
  EXPECT_EQ(hip.hipStreamEndCapture(on, &graph), hipErrorStreamCaptureInvalidated);
}

using HipGraph = HipCapture;

TEST_F(HipGraph, IsUpdatedWithAnotherCapture) {
  int *first = device_ints(ones), *second = device_ints(ones);
  hipStream_t on = stream(hipStreamNonBlocking);
  const auto with = [&](int *buffer, int plus) {
    return capture(on, [&] {
      EXPECT_EQ(hip.hipMemsetAsync(buffer, 0, 256, on), hipSuccess);
      EXPECT_EQ(step(on, buffer, 1, plus), hipSuccess);
    });
  };
  hipGraph_t graph = with(first, 5), changed = with(second, 6);
  hipGraph_t longer = capture(on, [&] { EXPECT_EQ(step(on, first, 1, 1), hipSuccess); });
  hipGraphExec_t exec = nullptr;
  ASSERT_EQ(hip.hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0), hipSuccess);
  EXPECT_EQ(hip.hipGraphLaunch(exec, on), hipSuccess);
  hipGraphNode_t node = nullptr;
  hipGraphExecUpdateResult result{};
  EXPECT_EQ(hip.hipGraphExecUpdate(exec, changed, &node, &result), hipSuccess);
  EXPECT_EQ(result, hipGraphExecUpdateSuccess);
  EXPECT_EQ(hip.hipGraphLaunch(exec, on), hipSuccess);
  EXPECT_EQ(hip.hipStreamSynchronize(on), hipSuccess);
  EXPECT_EQ(read(first)[0], 5);
  EXPECT_EQ(read(second)[0], 6);
  EXPECT_EQ(hip.hipGraphExecUpdate(exec, longer, &node, &result), hipErrorGraphExecUpdateFailure);
  EXPECT_EQ(result, hipGraphExecUpdateErrorTopologyChanged);
  for (hipGraph_t each : {graph, changed, longer})
    EXPECT_EQ(hip.hipGraphDestroy(each), hipSuccess);
  EXPECT_EQ(hip.hipGraphExecDestroy(exec), hipSuccess);
}

TEST_F(HipGraph, IsMadeOfNodesWhoseParametersChange) {
  int *buffer = device_ints(ones), *other = device_ints(ones);
  hipGraph_t graph = nullptr;
  ASSERT_EQ(hip.hipGraphCreate(&graph, 0), hipSuccess);
  int factor = 1, plus = 5;
  void *arguments[] = {&buffer, &factor, &plus};
  hipKernelNodeParams launch{};
  launch.func = const_cast<Function *>(kernel("step"));
  launch.gridDim = {1, 1, 1};
  launch.blockDim = {64, 1, 1};
  launch.kernelParams = arguments;
  hipMemsetParams fill{buffer, 4, 1, 0, 7, 64};
  hipGraphNode_t filled = nullptr, stepped = nullptr, copied = nullptr, empty = nullptr;
  ASSERT_EQ(hip.hipGraphAddMemsetNode(&filled, graph, nullptr, 0, &fill), hipSuccess);
  ASSERT_EQ(hip.hipGraphAddKernelNode(&stepped, graph, &filled, 1, &launch), hipSuccess);
  ASSERT_EQ(
      hip.hipGraphAddMemcpyNode1D(&copied, graph, nullptr, 0, other, buffer, 256, hipMemcpyDeviceToDevice),
      hipSuccess);
  ASSERT_EQ(hip.hipGraphAddDependencies(graph, &stepped, &copied, 1), hipSuccess);
  ASSERT_EQ(hip.hipGraphAddEmptyNode(&empty, graph, &copied, 1), hipSuccess);
  hipGraphNodeType type{};
  EXPECT_EQ(hip.hipGraphNodeGetType(stepped, &type), hipSuccess);
  EXPECT_EQ(type, hipGraphNodeTypeKernel);
  size_t roots = 0, edges = 0;
  EXPECT_EQ(hip.hipGraphGetRootNodes(graph, nullptr, &roots), hipSuccess);
  EXPECT_EQ(hip.hipGraphGetEdges(graph, nullptr, nullptr, &edges), hipSuccess);
  EXPECT_EQ(roots, 1u);
  EXPECT_EQ(edges, 3u);
  hipKernelNodeParams known{};
  EXPECT_EQ(hip.hipGraphKernelNodeGetParams(stepped, &known), hipSuccess);
  EXPECT_EQ(*static_cast<int *>(known.kernelParams[2]), 5);
  hipGraphExec_t exec = nullptr;
  ASSERT_EQ(hip.hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0), hipSuccess);
  EXPECT_EQ(hip.hipGraphLaunch(exec, nullptr), hipSuccess);
  EXPECT_EQ(read(other)[0], 12);
  plus = 6;
  fill.value = 100;
  EXPECT_EQ(hip.hipGraphExecKernelNodeSetParams(exec, stepped, &launch), hipSuccess);
  EXPECT_EQ(hip.hipGraphExecMemsetNodeSetParams(exec, filled, &fill), hipSuccess);
  EXPECT_EQ(hip.hipGraphExecKernelNodeSetParams(exec, filled, &launch), hipErrorInvalidValue);
  EXPECT_EQ(hip.hipGraphLaunch(exec, nullptr), hipSuccess);
  EXPECT_EQ(read(other)[0], 106);
  EXPECT_EQ(hip.hipGraphExecDestroy(exec), hipSuccess);
  // A circle cannot be executed.
  EXPECT_EQ(hip.hipGraphAddDependencies(graph, &copied, &filled, 1), hipSuccess);
  EXPECT_EQ(hip.hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0), hipErrorInvalidValue);
  EXPECT_EQ(hip.hipGraphDestroy(graph), hipSuccess);
}

} // namespace
} // namespace nereid::hip_sim::test
