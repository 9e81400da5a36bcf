#pragma once

#include <memory>
#include <vector>

#include "hip_sim/executor.h"

namespace nereid::hip_sim {

struct Capture;

/// Priorities that streams can have; they decide nothing here.
inline constexpr int least_priority = 1, greatest_priority = -1;

/// An ordered queue of a device.
struct Stream : std::enable_shared_from_this<Stream> {
  enum class Kind { Null, Blocking, NonBlocking };

  Stream(Device &device, Kind kind, int priority = 0);
  uint64_t id; ///< never used again
  Device *device;
  Kind kind;
  int priority;
  OperationPtr tail; ///< the last operation; null before the first
  std::shared_ptr<Capture> capture;
  std::vector<Node *> frontier; ///< while it captures: what the next node comes after
};

/// The stream of a handle: null, legacy and per-thread ones are the current device's. `error` says why there
/// is none, or that its device is lost.
std::shared_ptr<Stream> find_stream(Runtime &runtime, hipStream_t handle, hipError_t &error);

/// Queues work, or records it when the stream captures. The errors are those of capture and of a lost device.
hipError_t submit(Runtime &runtime, Lock &lock, Stream &stream, Work work);
/// Queues an operation after all that its stream has, and after others. Not for a stream that captures.
OperationPtr append(Runtime &runtime, Stream &stream, Work work, std::vector<OperationPtr> also_after = {});
/// Waits until a stream has done everything; the error is that of a lost device.
hipError_t drain(Runtime &runtime, Lock &lock, Stream &stream);

} // namespace nereid::hip_sim
