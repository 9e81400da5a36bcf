#pragma once

#include "hip_sim/runtime.h"

namespace nereid::hip_sim {

/// The rows of a copy as a program states them.
struct CopyRequest {
  void *to = nullptr;
  const void *from = nullptr;
  size_t width = 0, height = 1;
  size_t to_pitch = 0, from_pitch = 0;
  hipMemcpyKind kind = hipMemcpyDefault;
};

/// A copy of `bytes` bytes.
CopyRequest flat_copy(void *to, const void *from, size_t bytes, hipMemcpyKind kind);
/// Whether it can be done: both ends in memory of the kind that is said, whole.
hipError_t check_copy(Runtime &hip, const CopyRequest &request);
CopyWork copy_work(const CopyRequest &request);
/// Queues a checked copy. From pageable memory it takes the bytes at once, to such memory it waits.
hipError_t queue_copy(Runtime &hip, Lock &lock, Stream &stream, const CopyRequest &request);

/// Whether a fill lies in memory that a device knows, and its values have 1, 2 or 4 bytes.
hipError_t check_fill(Runtime &hip, const FillWork &work);

} // namespace nereid::hip_sim
