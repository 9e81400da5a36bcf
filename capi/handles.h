#pragma once

#include <string>
#include <vector>

#include <nereid/c_api.h>

#include "jit/device/buffer.h"
#include "jit/device/device.h"
#include "jit/module.h"
#include "kernels/device_memory.h"
#include "kernels/mxfp4_linear.h"

// What the handles of the C API hold. All are values or shared, so that handles may be destroyed in any
// order.

struct nereid_device {
  nereid::Device device;
  std::string name;
};
struct nereid_stream {
  nereid::Stream stream;
};
struct nereid_buffer {
  nereid::Buffer<std::byte> buffer;
};
struct nereid_mxfp4_linear {
  nereid::Device device;
  nereid::kernels::Mxfp4Linear linear;
};
struct nereid_module {
  nereid::Module module;
  std::vector<std::string> names;
};
struct nereid_kernel {
  nereid::Device device;
  nereid::ModuleKernel kernel;
};

namespace nereid::capi {

/// The stream of a handle, or the default one.
inline Stream stream_or_default(const nereid_stream *handle, const Device &device) {
  return handle ? handle->stream : device.stream();
}

inline kernels::DeviceMemory memory_of(const nereid_memory &memory) { return {memory.address, memory.bytes}; }

} // namespace nereid::capi
