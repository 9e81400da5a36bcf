// Opens libamdhip64 and asks it what a GPU is.
#include "jit/device/hip_api.h"

#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "jit/compile/shared_library.h"

namespace nereid::jit {
namespace {

// hipDeviceProp_tR0600 of HIP 6 and 7: its size and the members that are read.
constexpr size_t properties_size = 1472;
constexpr size_t name_offset = 0;
constexpr size_t compute_units_offset = 388;
constexpr size_t architecture_offset = 1160;
constexpr size_t text_size = 256;

std::string text_at(const std::vector<char> &bytes, size_t offset) {
  return std::string(bytes.data() + offset, strnlen(bytes.data() + offset, text_size));
}

Status load(HipApi &api) {
  const SharedLibrary library{"libamdhip64.so.7", "/opt/rocm/lib/libamdhip64.so.7", "libamdhip64.so.6",
                              "/opt/rocm/lib/libamdhip64.so.6", "libamdhip64.so"};
  if (!library.open())
    return environment_error("libamdhip64 cannot be opened: " + library.reasons(),
                             "Install ROCm 7 to run on a GPU; the simulator serves");
  api.library = library.name();
  std::string missing;
  auto resolve = [&](const char *name, auto &function) {
    if (!library.resolve(name, function))
      missing += (missing.empty() ? "" : ", ") + std::string(name);
  };
#define NEREID_HIP(function, parameters) resolve(#function, api.function);
#include "jit/device/hip_functions.def"
  resolve("hipGetErrorString", api.hipGetErrorString);
  if (!missing.empty())
    return environment_error(api.library + " lacks " + missing, "Install ROCm 7");
  return {};
}

} // namespace

Result<const HipApi *> HipApi::open() {
  static HipApi api;
  static const Status loaded = load(api);
  NEREID_CHECK(loaded);
  return &api;
}

Status HipApi::check(int code, const char *call) const {
  if (!code)
    return {};
  const char *text = hipGetErrorString(code);
  return device_error(fmt::format("{}: {} ({})", call, text ? text : "unknown error", code));
}

Result<HipGpu> describe_gpu(const HipApi &api, int index) {
  // Room beyond the struct for a later HIP that made it longer.
  std::vector<char> properties(4 * properties_size);
  NEREID_CHECK(
      api.check(api.hipGetDevicePropertiesR0600(properties.data(), index), "hipGetDeviceProperties"));
  HipGpu gpu{text_at(properties, name_offset), text_at(properties, architecture_offset), 0};
  std::memcpy(&gpu.compute_units, properties.data() + compute_units_offset, sizeof(gpu.compute_units));
  return gpu;
}

} // namespace nereid::jit
