// Fills.
#include "hip_sim/capture.h"
#include "hip_sim/entry.h"
#include "hip_sim/transfer.h"

namespace nereid::hip_sim {
namespace {

FillWork fill_of(void *to, uint32_t value, uint32_t element, size_t width, size_t height = 1,
                 size_t pitch = 0) {
  // hipMemset takes the low byte of an int.
  return {to, element == 1 ? value & 0xFF : value, element, width, height, pitch};
}

hipError_t fill_in_order(Entry entry, hipStream_t stream, const FillWork &work) {
  return call_on_stream(entry, stream, [&](Runtime &hip, Lock &lock, Stream &on) {
    NEREID_HIP_CHECK(check_fill(hip, work));
    return work.width && work.height ? submit(hip, lock, on, work) : hipSuccess;
  });
}

/// On the null stream; it waits only when the memory is the host's.
hipError_t fill_now(Entry entry, const FillWork &work) {
  return call(entry, [&](Runtime &hip, Lock &lock) {
    NEREID_HIP_CHECK(reject_while_capturing(hip, hipErrorStreamCaptureImplicit));
    NEREID_HIP_CHECK(check_fill(hip, work));
    if (!work.width || !work.height)
      return hipSuccess;
    const Allocation allocation = *hip.allocation_of(work.to);
    Stream &stream = *hip.devices[static_cast<size_t>(allocation.device)]->null_stream;
    NEREID_HIP_CHECK(stream.device->lost);
    NEREID_HIP_CHECK(submit(hip, lock, stream, work));
    return allocation.type == hipMemoryTypeDevice ? hipSuccess : drain(hip, lock, stream);
  });
}

} // namespace

hipError_t check_fill(Runtime &hip, const FillWork &work) {
  if (work.element != 1 && work.element != 2 && work.element != 4)
    return hipErrorInvalidValue;
  if (work.width == 0 || work.height == 0)
    return hipSuccess;
  const Allocation *allocation = hip.allocation_of(work.to);
  const auto address = reinterpret_cast<uint64_t>(work.to);
  if (!allocation || address % work.element != 0 || work.width > allocation->size)
    return hipErrorInvalidValue;
  const size_t row = work.width * work.element;
  if (work.height > 1 && work.pitch < row)
    return hipErrorInvalidValue;
  const size_t offset = address - allocation->address;
  return (work.height - 1) * work.pitch + row <= allocation->size - offset ? hipSuccess
                                                                           : hipErrorInvalidValue;
}

hipError_t hipMemset(void *to, int value, size_t bytes) {
  return fill_now(Entry::hipMemset, fill_of(to, static_cast<uint32_t>(value), 1, bytes));
}
hipError_t hipMemsetD8(void *to, unsigned char value, size_t count) {
  return fill_now(Entry::hipMemsetD8, fill_of(to, value, 1, count));
}
hipError_t hipMemsetD16(void *to, unsigned short value, size_t count) {
  return fill_now(Entry::hipMemsetD16, fill_of(to, value, 2, count));
}
hipError_t hipMemsetD32(void *to, int value, size_t count) {
  return fill_now(Entry::hipMemsetD32, fill_of(to, static_cast<uint32_t>(value), 4, count));
}
hipError_t hipMemset2D(void *to, size_t pitch, int value, size_t width, size_t height) {
  return fill_now(Entry::hipMemset2D, fill_of(to, static_cast<uint32_t>(value), 1, width, height, pitch));
}

hipError_t hipMemsetAsync(void *to, int value, size_t bytes, hipStream_t stream) {
  return fill_in_order(Entry::hipMemsetAsync, stream, fill_of(to, static_cast<uint32_t>(value), 1, bytes));
}
hipError_t hipMemsetD8Async(void *to, unsigned char value, size_t count, hipStream_t stream) {
  return fill_in_order(Entry::hipMemsetD8Async, stream, fill_of(to, value, 1, count));
}
hipError_t hipMemsetD16Async(void *to, unsigned short value, size_t count, hipStream_t stream) {
  return fill_in_order(Entry::hipMemsetD16Async, stream, fill_of(to, value, 2, count));
}
hipError_t hipMemsetD32Async(void *to, int value, size_t count, hipStream_t stream) {
  return fill_in_order(Entry::hipMemsetD32Async, stream, fill_of(to, static_cast<uint32_t>(value), 4, count));
}
hipError_t hipMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height,
                            hipStream_t stream) {
  return fill_in_order(Entry::hipMemset2DAsync, stream,
                       fill_of(to, static_cast<uint32_t>(value), 1, width, height, pitch));
}

} // namespace nereid::hip_sim
