// Copies.
#include <cstring>

#include "hip_sim/capture.h"
#include "hip_sim/entry.h"
#include "hip_sim/transfer.h"

namespace nereid::hip_sim {
namespace {

/// Bytes from the first to the last of the rows.
size_t extent(const CopyRequest &request, size_t pitch) {
  return (request.height - 1) * pitch + request.width;
}

bool inside(const Allocation &allocation, const void *pointer, size_t bytes) {
  const uint64_t offset = reinterpret_cast<uint64_t>(pointer) - allocation.address;
  return bytes <= allocation.size - offset;
}

/// Whether an end of a copy is what its kind says and lies in one allocation.
bool is_valid_end(Runtime &hip, const void *pointer, size_t bytes, bool on_device, bool any) {
  const Allocation *allocation = hip.allocation_of(pointer);
  if (!allocation)
    return (any || !on_device) && !is_device_address(pointer);
  return inside(*allocation, pointer, bytes) && (any || on_device || allocation->type != hipMemoryTypeDevice);
}

bool is_pageable(Runtime &hip, const void *pointer) { return !hip.allocation_of(pointer); }

/// The null stream of the device that has the memory; the current device's when both ends are on the host.
Stream &stream_of_memory(Runtime &hip, const CopyRequest &request) {
  for (const void *end : {request.from, static_cast<const void *>(request.to)})
    if (const Allocation *allocation = hip.allocation_of(end);
        allocation && allocation->type == hipMemoryTypeDevice)
      return *hip.devices[static_cast<size_t>(allocation->device)]->null_stream;
  return *current_device(hip).null_stream;
}

hipError_t copy_now(Runtime &hip, Lock &lock, Stream &stream, const CopyRequest &request) {
  NEREID_HIP_CHECK(reject_while_capturing(hip, hipErrorStreamCaptureImplicit));
  NEREID_HIP_CHECK(check_copy(hip, request));
  NEREID_HIP_CHECK(stream.device->lost);
  NEREID_HIP_CHECK(queue_copy(hip, lock, stream, request));
  return drain(hip, lock, stream);
}

hipError_t copy_now(Entry entry, const CopyRequest &request) {
  return call(entry, [&](Runtime &hip, Lock &lock) {
    return copy_now(hip, lock, stream_of_memory(hip, request), request);
  });
}

hipError_t copy_in_order(Entry entry, hipStream_t stream, const CopyRequest &request) {
  return call_on_stream(entry, stream, [&](Runtime &hip, Lock &lock, Stream &on) {
    NEREID_HIP_CHECK(check_copy(hip, request));
    return queue_copy(hip, lock, on, request);
  });
}

} // namespace

CopyRequest flat_copy(void *to, const void *from, size_t bytes, hipMemcpyKind kind) {
  return {to, from, bytes, 1, bytes, bytes, kind};
}

hipError_t check_copy(Runtime &hip, const CopyRequest &request) {
  if (request.kind < hipMemcpyHostToHost || request.kind > hipMemcpyDefault)
    return hipErrorInvalidMemcpyDirection;
  if (request.width == 0 || request.height == 0)
    return hipSuccess;
  if (request.height > 1 && (request.to_pitch < request.width || request.from_pitch < request.width))
    return hipErrorInvalidPitchValue;
  const bool any = request.kind == hipMemcpyDefault;
  const bool to_device = request.kind == hipMemcpyHostToDevice || request.kind == hipMemcpyDeviceToDevice;
  const bool from_device = request.kind == hipMemcpyDeviceToHost || request.kind == hipMemcpyDeviceToDevice;
  if (!request.to || !request.from ||
      !is_valid_end(hip, request.to, extent(request, request.to_pitch), to_device, any) ||
      !is_valid_end(hip, request.from, extent(request, request.from_pitch), from_device, any))
    return hipErrorInvalidValue;
  return hipSuccess;
}

CopyWork copy_work(const CopyRequest &request) {
  return {request.to,       request.from,       request.width, request.height,
          request.to_pitch, request.from_pitch, nullptr};
}

hipError_t queue_copy(Runtime &hip, Lock &lock, Stream &stream, const CopyRequest &request) {
  if (request.width == 0 || request.height == 0)
    return stream.device->lost;
  CopyWork work = copy_work(request);
  const bool capturing = stream.capture != nullptr;
  const bool to_pageable = is_pageable(hip, request.to);
  if (!capturing && is_pageable(hip, request.from) && !to_pageable) {
    auto staged = std::make_shared<std::vector<std::byte>>(request.width * request.height);
    for (size_t row = 0; row < request.height; ++row)
      std::memcpy(staged->data() + row * request.width,
                  static_cast<const std::byte *>(request.from) + row * request.from_pitch, request.width);
    work.staged = std::move(staged);
    work.from_pitch = request.width;
  }
  NEREID_HIP_CHECK(submit(hip, lock, stream, std::move(work)));
  return !capturing && to_pageable ? drain(hip, lock, stream) : hipSuccess;
}

hipError_t hipMemcpy(void *to, const void *from, size_t bytes, hipMemcpyKind kind) {
  return copy_now(Entry::hipMemcpy, flat_copy(to, from, bytes, kind));
}
hipError_t hipMemcpyHtoD(void *to, void *from, size_t bytes) {
  return copy_now(Entry::hipMemcpyHtoD, flat_copy(to, from, bytes, hipMemcpyHostToDevice));
}
hipError_t hipMemcpyDtoH(void *to, void *from, size_t bytes) {
  return copy_now(Entry::hipMemcpyDtoH, flat_copy(to, from, bytes, hipMemcpyDeviceToHost));
}
hipError_t hipMemcpyDtoD(void *to, void *from, size_t bytes) {
  return copy_now(Entry::hipMemcpyDtoD, flat_copy(to, from, bytes, hipMemcpyDeviceToDevice));
}
hipError_t hipMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                       size_t height, hipMemcpyKind kind) {
  return copy_now(Entry::hipMemcpy2D, {to, from, width, height, to_pitch, from_pitch, kind});
}
hipError_t hipMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes) {
  return call(Entry::hipMemcpyPeer, [&](Runtime &hip, Lock &lock) {
    const Device *source = device_at(hip, from_device), *target = device_at(hip, to_device);
    if (!source || !target)
      return hipErrorInvalidDevice;
    // It comes after what both devices' null streams have.
    NEREID_HIP_CHECK(drain(hip, lock, *target->null_stream));
    return copy_now(hip, lock, *source->null_stream, flat_copy(to, from, bytes, hipMemcpyDeviceToDevice));
  });
}

hipError_t hipMemcpyWithStream(void *to, const void *from, size_t bytes, hipMemcpyKind kind,
                               hipStream_t stream) {
  return call_on_stream(Entry::hipMemcpyWithStream, stream, [&](Runtime &hip, Lock &lock, Stream &on) {
    return copy_now(hip, lock, on, flat_copy(to, from, bytes, kind));
  });
}

hipError_t hipMemcpyAsync(void *to, const void *from, size_t bytes, hipMemcpyKind kind, hipStream_t stream) {
  return copy_in_order(Entry::hipMemcpyAsync, stream, flat_copy(to, from, bytes, kind));
}
hipError_t hipMemcpyHtoDAsync(void *to, void *from, size_t bytes, hipStream_t stream) {
  return copy_in_order(Entry::hipMemcpyHtoDAsync, stream, flat_copy(to, from, bytes, hipMemcpyHostToDevice));
}
hipError_t hipMemcpyDtoHAsync(void *to, void *from, size_t bytes, hipStream_t stream) {
  return copy_in_order(Entry::hipMemcpyDtoHAsync, stream, flat_copy(to, from, bytes, hipMemcpyDeviceToHost));
}
hipError_t hipMemcpyDtoDAsync(void *to, void *from, size_t bytes, hipStream_t stream) {
  return copy_in_order(Entry::hipMemcpyDtoDAsync, stream,
                       flat_copy(to, from, bytes, hipMemcpyDeviceToDevice));
}
hipError_t hipMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                            size_t height, hipMemcpyKind kind, hipStream_t stream) {
  return copy_in_order(Entry::hipMemcpy2DAsync, stream,
                       {to, from, width, height, to_pitch, from_pitch, kind});
}
hipError_t hipMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes,
                              hipStream_t stream) {
  return call_on_stream(Entry::hipMemcpyPeerAsync, stream, [&](Runtime &hip, Lock &lock, Stream &on) {
    if (!device_at(hip, to_device) || !device_at(hip, from_device))
      return hipErrorInvalidDevice;
    const CopyRequest request = flat_copy(to, from, bytes, hipMemcpyDeviceToDevice);
    NEREID_HIP_CHECK(check_copy(hip, request));
    return queue_copy(hip, lock, on, request);
  });
}

} // namespace nereid::hip_sim
