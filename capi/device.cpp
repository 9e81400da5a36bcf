// Devices, streams and buffers in C.
#include <memory>

#include "capi/handles.h"
#include "capi/last_error.h"

using namespace nereid;
using namespace nereid::capi;

namespace {

Result<Device> opened(std::string_view name, int32_t index) {
  if (name == "hip")
    return Device::hip(index);
  if (index != 0)
    return user_error("device '" + std::string(name) + "' has no number " + std::to_string(index),
                      "Only hip devices have numbers");
  return Device::named(name);
}

} // namespace

extern "C" {

nereid_status nereid_device_open(const char *name, int32_t index, nereid_device **device) {
  return guarded([&]() -> Status {
    NEREID_CHECK(not_null(name, "name"));
    NEREID_CHECK(not_null(device, "device"));
    NEREID_TRY(Device found, opened(name, index));
    std::string text = found.name();
    *device = new nereid_device{std::move(found), std::move(text)};
    return {};
  });
}

void nereid_device_close(nereid_device *device) { delete device; }

const char *nereid_device_name(const nereid_device *device) { return device ? device->name.c_str() : ""; }

int32_t nereid_device_is_simulator(const nereid_device *device) {
  return device && device->device.kind() == DeviceKind::Simulator;
}

nereid_status nereid_device_synchronize(const nereid_device *device) {
  return guarded([&]() -> Status {
    NEREID_CHECK(not_null(device, "device"));
    return device->device.synchronize();
  });
}

nereid_status nereid_stream_create(const nereid_device *device, nereid_stream **stream) {
  return guarded([&]() -> Status {
    NEREID_CHECK(not_null(device, "device"));
    NEREID_CHECK(not_null(stream, "stream"));
    NEREID_TRY(Stream made, device->device.new_stream());
    *stream = new nereid_stream{std::move(made)};
    return {};
  });
}

nereid_status nereid_stream_wrap(const nereid_device *device, void *hip_stream, nereid_stream **stream) {
  return guarded([&]() -> Status {
    NEREID_CHECK(not_null(device, "device"));
    NEREID_CHECK(not_null(stream, "stream"));
    NEREID_TRY(Stream wrapped, device->device.external_stream(hip_stream));
    *stream = new nereid_stream{std::move(wrapped)};
    return {};
  });
}

void nereid_stream_destroy(nereid_stream *stream) { delete stream; }

nereid_status nereid_stream_synchronize(const nereid_stream *stream) {
  return guarded([&]() -> Status {
    NEREID_CHECK(not_null(stream, "stream"));
    return stream->stream.synchronize();
  });
}

nereid_status nereid_buffer_create(const nereid_device *device, uint64_t bytes, nereid_buffer **buffer) {
  return guarded([&]() -> Status {
    NEREID_CHECK(not_null(device, "device"));
    NEREID_CHECK(not_null(buffer, "buffer"));
    // The handle first: what fails then leaves no memory to be freed.
    auto handle = std::make_unique<nereid_buffer>();
    NEREID_TRY(handle->buffer, device->device.allocate(bytes));
    *buffer = handle.release();
    return {};
  });
}

void nereid_buffer_destroy(nereid_buffer *buffer) { delete buffer; }

nereid_memory nereid_buffer_memory(const nereid_buffer *buffer) {
  if (!buffer)
    return {0, 0};
  return {buffer->buffer.address(), buffer->buffer.bytes()};
}

nereid_status nereid_buffer_write(nereid_buffer *buffer, uint64_t offset, const void *from, uint64_t bytes) {
  return guarded([&]() -> Status {
    NEREID_CHECK(not_null(buffer, "buffer"));
    if (bytes)
      NEREID_CHECK(not_null(from, "from"));
    return buffer->buffer.copy_from_host({static_cast<const std::byte *>(from), bytes}, offset);
  });
}

nereid_status nereid_buffer_read(const nereid_buffer *buffer, uint64_t offset, void *to, uint64_t bytes) {
  return guarded([&]() -> Status {
    NEREID_CHECK(not_null(buffer, "buffer"));
    if (bytes)
      NEREID_CHECK(not_null(to, "to"));
    return buffer->buffer.copy_to_host({static_cast<std::byte *>(to), bytes}, offset);
  });
}

nereid_status nereid_buffer_fill(nereid_buffer *buffer, uint8_t byte) {
  return guarded([&]() -> Status {
    NEREID_CHECK(not_null(buffer, "buffer"));
    return buffer->buffer.fill(std::byte{byte});
  });
}
}
