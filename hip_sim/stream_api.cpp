// Streams.
#include <algorithm>

#include "hip_sim/capture.h"
#include "hip_sim/entry.h"
#include "hip_sim/event.h"

namespace nereid::hip_sim {
namespace {

hipError_t create(Entry entry, hipStream_t *stream, unsigned flags, int priority) {
  return call(entry, [&](Runtime &hip, Lock &) {
    if (!stream || (flags & ~hipStreamNonBlocking))
      return hipErrorInvalidValue;
    Device &device = current_device(hip);
    NEREID_HIP_CHECK(device.lost);
    const auto kind = flags & hipStreamNonBlocking ? Stream::Kind::NonBlocking : Stream::Kind::Blocking;
    *stream = hip.streams.add(
        std::make_shared<Stream>(device, kind, std::clamp(priority, greatest_priority, least_priority)));
    return hipSuccess;
  });
}

/// Lets a stream take part in the capture in which an event was recorded.
hipError_t wait_in_capture(Stream &stream, const Event &event, const std::shared_ptr<Capture> &capture) {
  if (capture->status != hipStreamCaptureStatusActive)
    return hipErrorStreamCaptureInvalidated;
  if (stream.kind == Stream::Kind::Null)
    return hipErrorStreamCaptureImplicit;
  if (stream.capture && stream.capture != capture) {
    stream.capture->status = capture->status = hipStreamCaptureStatusInvalidated;
    return hipErrorStreamCaptureMerge;
  }
  if (!stream.capture) {
    stream.capture = capture;
    stream.frontier.clear();
    capture->streams.push_back(stream.weak_from_this());
  }
  for (Node *node : event.captured)
    if (std::find(stream.frontier.begin(), stream.frontier.end(), node) == stream.frontier.end())
      stream.frontier.push_back(node);
  return hipSuccess;
}

hipError_t queue_host_call(Entry entry, hipStream_t stream, const HostWork &work) {
  return call_on_stream(entry, stream, [&](Runtime &hip, Lock &lock, Stream &on) {
    return work.function || work.callback ? submit(hip, lock, on, work) : hipErrorInvalidValue;
  });
}

} // namespace

hipError_t hipStreamCreate(hipStream_t *stream) { return create(Entry::hipStreamCreate, stream, 0, 0); }
hipError_t hipStreamCreateWithFlags(hipStream_t *stream, unsigned flags) {
  return create(Entry::hipStreamCreateWithFlags, stream, flags, 0);
}
hipError_t hipStreamCreateWithPriority(hipStream_t *stream, unsigned flags, int priority) {
  return create(Entry::hipStreamCreateWithPriority, stream, flags, priority);
}

hipError_t hipStreamDestroy(hipStream_t stream) {
  return call(Entry::hipStreamDestroy, [&](Runtime &hip, Lock &) {
    // What it has queued stays queued.
    const std::shared_ptr<Stream> found = hip.streams.find(stream);
    if (!found)
      return hipErrorInvalidHandle;
    if (found->capture) {
      found->capture->status = hipStreamCaptureStatusInvalidated;
      if (is_origin(*found->capture, *found))
        end(hip, *std::shared_ptr<Capture>(found->capture));
    }
    hip.streams.remove(stream);
    return hipSuccess;
  });
}

hipError_t hipStreamQuery(hipStream_t stream) {
  return call_on_stream(Entry::hipStreamQuery, stream, [&](Runtime &hip, Lock &lock, Stream &on) {
    NEREID_HIP_CHECK(reject_capturing(on));
    if (on.kind == Stream::Kind::Null && !on.device->blocking_tails.empty())
      append(hip, on, std::monostate());
    const bool done = hip.executor.step(hip, lock, OperationPtr(on.tail));
    NEREID_HIP_CHECK(on.device->lost);
    return done ? hipSuccess : hipErrorNotReady;
  });
}

hipError_t hipStreamSynchronize(hipStream_t stream) {
  return call_on_stream(Entry::hipStreamSynchronize, stream, [&](Runtime &hip, Lock &lock, Stream &on) {
    NEREID_HIP_CHECK(reject_capturing(on));
    NEREID_HIP_CHECK(legacy_stream_conflict(hip, on));
    return drain(hip, lock, on);
  });
}

hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned) {
  return call_on_stream(Entry::hipStreamWaitEvent, stream, [&](Runtime &hip, Lock &lock, Stream &on) {
    const std::shared_ptr<Event> found = hip.events.find(event);
    if (!found)
      return hipErrorInvalidHandle;
    if (const auto capture = found->capture.lock())
      return wait_in_capture(on, *found, capture);
    if (on.capture) {
      on.capture->status = hipStreamCaptureStatusInvalidated;
      return hipErrorStreamCaptureIsolation;
    }
    NEREID_HIP_CHECK(legacy_stream_conflict(hip, on));
    if (found->recorded) {
      append(hip, on, std::monostate(), {found->recorded});
      hip.executor.bound(hip, lock);
    }
    return hipSuccess;
  });
}

hipError_t hipStreamGetFlags(hipStream_t stream, unsigned *flags) {
  return call_on_stream(Entry::hipStreamGetFlags, stream, [&](Runtime &, Lock &, Stream &on) {
    if (!flags)
      return hipErrorInvalidValue;
    *flags = on.kind == Stream::Kind::NonBlocking ? hipStreamNonBlocking : 0;
    return hipSuccess;
  });
}

hipError_t hipStreamGetPriority(hipStream_t stream, int *priority) {
  return call_on_stream(Entry::hipStreamGetPriority, stream, [&](Runtime &, Lock &, Stream &on) {
    if (!priority)
      return hipErrorInvalidValue;
    *priority = on.priority;
    return hipSuccess;
  });
}

hipError_t hipStreamGetDevice(hipStream_t stream, int *device) {
  return call_on_stream(Entry::hipStreamGetDevice, stream, [&](Runtime &, Lock &, Stream &on) {
    if (!device)
      return hipErrorInvalidValue;
    *device = on.device->index;
    return hipSuccess;
  });
}

hipError_t hipStreamAddCallback(hipStream_t stream, hipStreamCallback_t callback, void *data,
                                unsigned flags) {
  if (flags)
    callback = nullptr; // they must be 0
  return queue_host_call(Entry::hipStreamAddCallback, stream, {nullptr, callback, stream, data});
}

hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t function, void *data) {
  return queue_host_call(Entry::hipLaunchHostFunc, stream, {function, nullptr, nullptr, data});
}

} // namespace nereid::hip_sim
