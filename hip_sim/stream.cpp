// The order of streams: of one stream, of the null stream with the blocking ones, and of what waits for
// events.
#include "hip_sim/stream.h"

#include <algorithm>
#include <atomic>

#include "hip_sim/capture.h"
#include "hip_sim/device.h"
#include "hip_sim/runtime.h"
#include "hip_sim/thread.h"

namespace nereid::hip_sim {

Stream::Stream(Device &device, Kind kind, int priority) : device(&device), kind(kind), priority(priority) {
  static std::atomic<uint64_t> next = 1;
  id = next++;
}

std::shared_ptr<Stream> find_stream(Runtime &runtime, hipStream_t handle, hipError_t &error) {
  const auto number = reinterpret_cast<uintptr_t>(handle);
  std::shared_ptr<Stream> stream;
  if (number == 0 || number == hipStreamLegacy) {
    stream = current_device(runtime).null_stream;
  } else if (number == hipStreamPerThread) {
    Device &device = current_device(runtime);
    std::shared_ptr<Stream> &own = this_thread().streams[device.index];
    if (!own)
      own = std::make_shared<Stream>(device, Stream::Kind::Blocking);
    stream = own;
  } else {
    stream = runtime.streams.find(handle);
  }
  error = stream ? stream->device->lost : hipErrorContextIsDestroyed;
  return error == hipSuccess ? stream : nullptr;
}

OperationPtr append(Runtime &runtime, Stream &stream, Work work, std::vector<OperationPtr> also_after) {
  Device &device = *stream.device;
  std::vector<OperationPtr> waits = std::move(also_after);
  waits.push_back(stream.tail);
  if (stream.kind == Stream::Kind::Null) {
    for (auto &[id, tail] : device.blocking_tails)
      waits.push_back(std::move(tail));
    device.blocking_tails.clear();
  } else if (stream.kind == Stream::Kind::Blocking) {
    waits.push_back(device.null_stream->tail);
  }
  stream.tail = runtime.executor.add(device, std::move(work), std::move(waits));
  if (stream.kind == Stream::Kind::Blocking) {
    auto &tails = device.blocking_tails;
    const auto same =
        std::find_if(tails.begin(), tails.end(), [&](const auto &entry) { return entry.first == stream.id; });
    if (same == tails.end())
      tails.emplace_back(stream.id, stream.tail);
    else
      same->second = stream.tail;
  }
  return stream.tail;
}

hipError_t submit(Runtime &runtime, Lock &lock, Stream &stream, Work work) {
  if (stream.capture)
    return record(stream, std::move(work));
  if (const hipError_t error = legacy_stream_conflict(runtime, stream); error != hipSuccess)
    return error;
  const OperationPtr operation = append(runtime, stream, std::move(work));
  if (runtime.options.eager)
    runtime.executor.finish(runtime, lock, operation);
  else
    runtime.executor.bound(runtime, lock);
  return stream.device->lost;
}

hipError_t drain(Runtime &runtime, Lock &lock, Stream &stream) {
  Device &device = *stream.device;
  // What the null stream does next would wait for the blocking streams: so does who waits for it.
  if (stream.kind == Stream::Kind::Null && !device.blocking_tails.empty())
    append(runtime, stream, std::monostate());
  runtime.executor.finish(runtime, lock, OperationPtr(stream.tail));
  return device.lost;
}

} // namespace nereid::hip_sim
