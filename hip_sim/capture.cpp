// The rules of stream capture.
#include "hip_sim/capture.h"

#include <algorithm>

#include "hip_sim/runtime.h"
#include "hip_sim/thread.h"

namespace nereid::hip_sim {

bool is_origin(const Capture &capture, const Stream &stream) {
  return capture.streams.front().lock().get() == &stream;
}

hipError_t record(Stream &stream, Work work) {
  Capture &capture = *stream.capture;
  if (capture.status != hipStreamCaptureStatusActive)
    return hipErrorStreamCaptureInvalidated;
  Node *node = capture.graph->add(std::move(work), stream.frontier);
  stream.frontier = {node};
  return hipSuccess;
}

hipError_t reject_while_capturing(Runtime &runtime, hipError_t error) {
  for (const auto &capture : runtime.captures)
    capture->status = hipStreamCaptureStatusInvalidated;
  return runtime.captures.empty() ? hipSuccess : error;
}

hipError_t reject_unsafe(Runtime &runtime) {
  const hipStreamCaptureMode mode = this_thread().capture_mode;
  if (mode == hipStreamCaptureModeRelaxed)
    return hipSuccess;
  hipError_t error = hipSuccess;
  for (const auto &capture : runtime.captures) {
    const bool own =
        capture->thread == std::this_thread::get_id() && capture->mode != hipStreamCaptureModeRelaxed;
    const bool global = mode == hipStreamCaptureModeGlobal && capture->mode == hipStreamCaptureModeGlobal;
    if (!own && !global)
      continue;
    capture->status = hipStreamCaptureStatusInvalidated;
    error = hipErrorStreamCaptureUnsupported;
  }
  return error;
}

hipError_t legacy_stream_conflict(Runtime &runtime, const Stream &stream) {
  if (stream.kind != Stream::Kind::Null)
    return hipSuccess;
  hipError_t error = hipSuccess;
  for (const auto &capture : runtime.captures)
    for (const auto &weak : capture->streams)
      if (const auto other = weak.lock();
          other && other->kind == Stream::Kind::Blocking && other->device == stream.device) {
        capture->status = hipStreamCaptureStatusInvalidated;
        error = hipErrorStreamCaptureImplicit;
      }
  return error;
}

hipError_t reject_capturing(Stream &stream) {
  if (!stream.capture)
    return hipSuccess;
  stream.capture->status = hipStreamCaptureStatusInvalidated;
  return hipErrorStreamCaptureUnsupported;
}

void end(Runtime &runtime, Capture &capture) {
  for (const auto &weak : capture.streams)
    if (const auto stream = weak.lock()) {
      stream->capture = nullptr;
      stream->frontier.clear();
    }
  std::erase_if(runtime.captures, [&](const auto &other) { return other.get() == &capture; });
}

} // namespace nereid::hip_sim
