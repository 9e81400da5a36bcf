// Events and the times between them.
#include <chrono>

#include "hip_sim/capture.h"
#include "hip_sim/entry.h"
#include "hip_sim/event.h"

namespace nereid::hip_sim {
namespace {

constexpr unsigned known_flags = hipEventBlockingSync | hipEventDisableTiming | hipEventInterprocess |
                                 0x20000000u | 0x40000000u | 0x80000000u; // fences of HIP's own

hipError_t create(Entry entry, hipEvent_t *event, unsigned flags) {
  return call(entry, [&](Runtime &hip, Lock &) {
    if (!event || (flags & ~known_flags))
      return hipErrorInvalidValue;
    Device &device = current_device(hip);
    NEREID_HIP_CHECK(device.lost);
    auto made = std::make_shared<Event>();
    made->device = &device;
    made->flags = flags;
    *event = hip.events.add(std::move(made));
    return hipSuccess;
  });
}

/// The error of asking for an event of a capture that is going on; the capture is invalidated.
hipError_t reject_captured(const Event &event) {
  const auto capture = event.capture.lock();
  if (!capture)
    return hipSuccess;
  capture->status = hipStreamCaptureStatusInvalidated;
  return hipErrorCapturedEvent;
}

/// The body of an entry point on an event: `body(runtime, lock, event)`.
template <class Body> hipError_t call_on_event(Entry entry, hipEvent_t event, Body body) {
  return call(entry, [&](Runtime &hip, Lock &lock) {
    const std::shared_ptr<Event> found = hip.events.find(event);
    return found ? body(hip, lock, *found) : hipErrorInvalidHandle;
  });
}

bool is_done(const Event &event) { return event.recorded && event.recorded->state == Operation::State::Done; }

float milliseconds_between(const Operation &start, const Operation &stop, bool simulated) {
  if (simulated)
    return static_cast<float>((stop.finished_us - start.finished_us) / 1000);
  return std::chrono::duration<float, std::milli>(stop.finished - start.finished).count();
}

} // namespace

hipError_t hipEventCreate(hipEvent_t *event) { return create(Entry::hipEventCreate, event, 0); }
hipError_t hipEventCreateWithFlags(hipEvent_t *event, unsigned flags) {
  return create(Entry::hipEventCreateWithFlags, event, flags);
}

hipError_t hipEventDestroy(hipEvent_t event) {
  return call(Entry::hipEventDestroy, [&](Runtime &hip, Lock &) {
    return hip.events.remove(event) ? hipSuccess : hipErrorInvalidHandle;
  });
}

hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
  return call_on_stream(Entry::hipEventRecord, stream, [&](Runtime &hip, Lock &lock, Stream &on) {
    const std::shared_ptr<Event> found = hip.events.find(event);
    if (!found || found->device != on.device)
      return hipErrorInvalidHandle;
    if (on.capture) {
      if (on.capture->status != hipStreamCaptureStatusActive)
        return hipErrorStreamCaptureInvalidated;
      found->capture = on.capture;
      found->captured = on.frontier;
      return hipSuccess;
    }
    NEREID_HIP_CHECK(legacy_stream_conflict(hip, on));
    found->capture.reset();
    found->captured.clear();
    found->recorded = append(hip, on, std::monostate());
    hip.executor.bound(hip, lock);
    return on.device->lost;
  });
}

hipError_t hipEventQuery(hipEvent_t event) {
  return call_on_event(Entry::hipEventQuery, event, [&](Runtime &hip, Lock &lock, Event &found) {
    NEREID_HIP_CHECK(reject_captured(found));
    const bool done = hip.executor.step(hip, lock, OperationPtr(found.recorded));
    NEREID_HIP_CHECK(found.device->lost);
    return done ? hipSuccess : hipErrorNotReady;
  });
}

hipError_t hipEventSynchronize(hipEvent_t event) {
  return call_on_event(Entry::hipEventSynchronize, event, [&](Runtime &hip, Lock &lock, Event &found) {
    NEREID_HIP_CHECK(reject_captured(found));
    hip.executor.finish(hip, lock, OperationPtr(found.recorded));
    return found.device->lost;
  });
}

hipError_t hipEventElapsedTime(float *milliseconds, hipEvent_t start, hipEvent_t stop) {
  return call(Entry::hipEventElapsedTime, [&](Runtime &hip, Lock &lock) {
    if (!milliseconds)
      return hipErrorInvalidValue;
    const std::shared_ptr<Event> first = hip.events.find(start), last = hip.events.find(stop);
    if (!first || !last || first->device != last->device || !first->recorded || !last->recorded ||
        ((first->flags | last->flags) & hipEventDisableTiming))
      return hipErrorInvalidHandle;
    NEREID_HIP_CHECK(first->device->lost);
    // Who polls with this call gets on, too.
    if (!is_done(*first) || !is_done(*last)) {
      if (hip.executor.step(hip, lock, OperationPtr(first->recorded)))
        hip.executor.step(hip, lock, OperationPtr(last->recorded));
      return hipErrorNotReady;
    }
    *milliseconds = milliseconds_between(*first->recorded, *last->recorded, hip.options.timing);
    return hipSuccess;
  });
}

} // namespace nereid::hip_sim
