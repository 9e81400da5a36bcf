#pragma once

#include <new>
#include <utility>

#include "hip_sim/executor.h"
#include "hip_sim/runtime.h"

namespace nereid::hip_sim {

/// The entry points by position in the table.
enum class Entry : uint16_t {
#define NEREID_HIP(name, ...) name,
#define NEREID_HIP_TEXT(name, ...) name,
#include "hip_sim/entry_points.def"
  Count
};

const char *entry_name(Entry entry);

/// Counts a call. An error is what a test asked this call to fail with; then it does nothing else.
hipError_t begin_call(Entry entry);
/// Keeps what hipGetLastError says, and writes the log.
hipError_t end_call(Entry entry, hipError_t error);
/// Says why there is no runtime.
hipError_t no_runtime();

/// The body of an entry point that needs no device: `body(runtime, lock)` returns a hipError_t.
template <class Body> hipError_t call_without_device(Entry entry, Body body) {
  if (const hipError_t asked = begin_call(entry); asked != hipSuccess)
    return end_call(entry, asked);
  if (!runtime())
    return end_call(entry, no_runtime());
  Runtime &one = **runtime();
  try {
    Lock lock(one.mutex);
    return end_call(entry, body(one, lock));
  } catch (const std::bad_alloc &) {
    return end_call(entry, hipErrorOutOfMemory);
  } catch (...) {
    return end_call(entry, hipErrorUnknown);
  }
}

/// The body of an entry point that fails when there is no device.
template <class Body> hipError_t call(Entry entry, Body body) {
  return call_without_device(entry, [&](Runtime &one, Lock &lock) {
    return one.devices.empty() ? hipErrorNoDevice : body(one, lock);
  });
}

/// The body of an entry point on a stream: `body(runtime, lock, stream)`.
template <class Body> hipError_t call_on_stream(Entry entry, hipStream_t handle, Body body) {
  return call(entry, [&](Runtime &one, Lock &lock) {
    hipError_t error = hipSuccess;
    const std::shared_ptr<Stream> stream = find_stream(one, handle, error);
    return stream ? body(one, lock, *stream) : error;
  });
}

/// Returns the error of an expression from the function around it.
#define NEREID_HIP_CHECK(...)                                                                                \
  do {                                                                                                       \
    if (const hipError_t nereid_error = (__VA_ARGS__); nereid_error != hipSuccess)                           \
      return nereid_error;                                                                                   \
  } while (false)

} // namespace nereid::hip_sim
