#pragma once

#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "hip_sim/graph.h"
#include "hip_sim/stream.h"

namespace nereid::hip_sim {

/// A capture that began and did not end: the work of its streams becomes nodes of a graph.
struct Capture {
  uint64_t id = 0;
  hipStreamCaptureMode mode = hipStreamCaptureModeGlobal;
  hipStreamCaptureStatus status = hipStreamCaptureStatusActive;
  std::thread::id thread;                     ///< that began it
  std::vector<std::weak_ptr<Stream>> streams; ///< that take part; the first one began it
  std::shared_ptr<Graph> graph;
};

/// Whether the capture began on this stream.
bool is_origin(const Capture &capture, const Stream &stream);
/// Adds a node after what the stream has captured. Error: the capture is invalidated.
hipError_t record(Stream &stream, Work work);
/// The error of a call that no capture allows while it is going on (hipMemcpy and others that wait); the
/// captures are invalidated.
hipError_t reject_while_capturing(Runtime &runtime, hipError_t error);
/// The error of a call that is unsafe during a capture, such as hipMalloc, when this thread's mode and the
/// captures that are going on forbid it; those captures are invalidated.
hipError_t reject_unsafe(Runtime &runtime);
/// The error of work on the null stream while a blocking stream of its device captures.
hipError_t legacy_stream_conflict(Runtime &runtime, const Stream &stream);
/// The error of waiting for a stream that captures.
hipError_t reject_capturing(Stream &stream);
/// Ends a capture for all that took part.
void end(Runtime &runtime, Capture &capture);

} // namespace nereid::hip_sim
