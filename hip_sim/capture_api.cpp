// Stream capture.
#include <algorithm>

#include "hip_sim/capture.h"
#include "hip_sim/entry.h"
#include "hip_sim/thread.h"

namespace nereid::hip_sim {
namespace {

/// Whether all that was captured comes before the end of the stream in which the capture began.
bool is_joined(const Capture &capture, const std::vector<Node *> &frontier) {
  const std::vector<Node *> leaves = capture.graph->leaves();
  return std::all_of(leaves.begin(), leaves.end(), [&](Node *leaf) {
    return std::find(frontier.begin(), frontier.end(), leaf) != frontier.end();
  });
}

/// The handle's stream also when its device is lost; null for the null stream.
hipError_t status_of(Runtime &hip, hipStream_t handle, hipStreamCaptureStatus *status,
                     unsigned long long *id) {
  hipError_t error = hipSuccess;
  const std::shared_ptr<Stream> stream = find_stream(hip, handle, error);
  if (!stream)
    return error;
  if (!status)
    return hipErrorInvalidValue;
  NEREID_HIP_CHECK(legacy_stream_conflict(hip, *stream));
  *status = stream->capture ? stream->capture->status : hipStreamCaptureStatusNone;
  if (stream->capture && id)
    *id = stream->capture->id;
  return hipSuccess;
}

} // namespace

hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode) {
  return call(Entry::hipStreamBeginCapture, [&](Runtime &hip, Lock &) {
    hipError_t error = hipSuccess;
    const std::shared_ptr<Stream> on = find_stream(hip, stream, error);
    if (!on)
      return error;
    if (mode < hipStreamCaptureModeGlobal || mode > hipStreamCaptureModeRelaxed)
      return hipErrorInvalidValue;
    if (on->kind == Stream::Kind::Null)
      return hipErrorStreamCaptureUnsupported;
    if (on->capture)
      return hipErrorIllegalState;
    auto capture = std::make_shared<Capture>();
    capture->id = hip.next_capture++;
    capture->mode = mode;
    capture->thread = std::this_thread::get_id();
    capture->streams = {on};
    capture->graph = std::make_shared<Graph>();
    on->capture = capture;
    on->frontier.clear();
    hip.captures.push_back(std::move(capture));
    return hipSuccess;
  });
}

hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t *graph) {
  return call_on_stream(Entry::hipStreamEndCapture, stream, [&](Runtime &hip, Lock &, Stream &on) {
    if (!graph)
      return hipErrorInvalidValue;
    if (!on.capture)
      return hipErrorIllegalState;
    const std::shared_ptr<Capture> capture = on.capture;
    if (!is_origin(*capture, on))
      return hipErrorStreamCaptureUnmatched;
    if (capture->mode != hipStreamCaptureModeRelaxed && capture->thread != std::this_thread::get_id())
      return hipErrorStreamCaptureWrongThread;
    *graph = nullptr;
    const bool valid = capture->status == hipStreamCaptureStatusActive;
    const bool joined = is_joined(*capture, on.frontier);
    end(hip, *capture);
    if (!valid)
      return hipErrorStreamCaptureInvalidated;
    if (!joined)
      return hipErrorStreamCaptureUnjoined;
    *graph = hip.graphs.add(capture->graph);
    return hipSuccess;
  });
}

hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus *status) {
  return call(Entry::hipStreamIsCapturing,
              [&](Runtime &hip, Lock &) { return status_of(hip, stream, status, nullptr); });
}

hipError_t hipStreamGetCaptureInfo(hipStream_t stream, hipStreamCaptureStatus *status,
                                   unsigned long long *id) {
  return call(Entry::hipStreamGetCaptureInfo,
              [&](Runtime &hip, Lock &) { return status_of(hip, stream, status, id); });
}

hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode *mode) {
  return call(Entry::hipThreadExchangeStreamCaptureMode, [&](Runtime &, Lock &) {
    if (!mode || *mode < hipStreamCaptureModeGlobal || *mode > hipStreamCaptureModeRelaxed)
      return hipErrorInvalidValue;
    std::swap(*mode, this_thread().capture_mode);
    return hipSuccess;
  });
}

} // namespace nereid::hip_sim
