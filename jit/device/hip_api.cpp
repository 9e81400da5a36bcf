// Opens libamdhip64, asks it what a GPU is, and says what its errors mean.
#include "jit/device/hip_api.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "jit/compile/shared_library.h"

namespace nereid::jit {
namespace {

// hipDeviceProp_tR0600 of HIP 6 and 7: its size and the members that are read. Clocks are in kHz.
constexpr size_t properties_size = 1472;
constexpr size_t name_offset = 0;
constexpr size_t memory_offset = 288;
constexpr size_t lds_offset = 296;
constexpr size_t wave_size_offset = 308;
constexpr size_t clock_offset = 348;
constexpr size_t compute_units_offset = 388;
constexpr size_t memory_clock_offset = 608;
constexpr size_t architecture_offset = 1160;
constexpr size_t text_size = 256;

std::string text_at(const std::vector<char> &bytes, size_t offset) {
  return std::string(bytes.data() + offset, strnlen(bytes.data() + offset, text_size));
}

template <class T> T number_at(const std::vector<char> &bytes, size_t offset) {
  T value{};
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

/// What a code of hipError_t says of the cause.
struct CodeMeaning {
  int first;
  int last;
  Owner owner;
  const char *remedy;
};

constexpr const char *look_on_simulator =
    "Run it on Device::simulator() with NEREID_SIM_CHECKS=all, which names kernel, line and address";
constexpr const char *capture_rule =
    "Captured work is launches, asynchronous copies and fills on the stream that is captured";
constexpr const char *look_at_driver = "rocminfo and dmesg show what driver and GPU say";

constexpr CodeMeaning meanings[] = {
    {1, 1, Owner::User, "Check addresses, sizes and streams that come from outside of Nereid"},
    {hip_out_of_memory, hip_out_of_memory, Owner::User, "Free buffers or use smaller ones"},
    {3, 4, Owner::Environment, look_at_driver},
    {17, 17, Owner::User, "Check addresses that come from outside of Nereid"},
    {35, 35, Owner::Environment, "Install a driver that fits the ROCm libraries"},
    {98, 98, Owner::Nereid, "Please report the kernel"},
    {100, 100, Owner::Environment, look_at_driver},
    {101, 101, Owner::User, "Choose a GPU that the machine has; nereid doctor lists devices"},
    {200, 200, Owner::Nereid, "Please report the kernel"},
    {209, 209, Owner::Environment, "Choose a gfx950 GPU"},
    {214, 214, Owner::Environment, look_at_driver},
    {217, 217, Owner::Environment, "Copy between the two devices"},
    {400, 401, Owner::User, "Check that streams from outside of Nereid still exist and are not captured"},
    {700, 700, Owner::User, look_on_simulator},
    {702, 702, Owner::User, "Check the bounds of the kernel's loops"},
    {704, 705, Owner::User, "Call Device::enable_access first"},
    {709, 709, Owner::Environment, look_at_driver},
    {710, 710, Owner::User, look_on_simulator},
    {719, 719, Owner::User, look_on_simulator},
    {801, 801, Owner::Environment, "Install ROCm 7"},
    {900, 909, Owner::User, capture_rule},
    {hip_graph_update_failure, hip_graph_update_failure, Owner::User, "Launch the other graph itself"},
};

std::atomic<bool> gone = false;

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

bool HipApi::is_gone() { return gone; }

Result<const HipApi *> HipApi::open() {
  // Never destroyed: handles of static objects may still ask for it.
  static HipApi &api = *new HipApi;
  static const Status &loaded = *new Status(load(api));
  NEREID_CHECK(loaded);
  return &api;
}

Result<int> HipApi::gpu_count() const {
  const auto doing = [&] { return library + " finds no GPU"; };
  int count = 0;
  Status counted = check(hipInit(0), "hipInit", doing);
  if (counted)
    counted = check(hipGetDeviceCount(&count), "hipGetDeviceCount", doing);
  if (!counted)
    return environment_error(counted.error().message, "The simulator serves");
  // What is registered last runs first, so before HIP's own end, for which hipInit registered.
  [[maybe_unused]] static const int registered = std::atexit([] { gone = true; });
  return count;
}

Error HipApi::failure(int code, const char *call, const std::string &doing) const {
  (void)hipGetLastError();
  const char *text = hipGetErrorString(code);
  const auto *found = std::find_if(std::begin(meanings), std::end(meanings), [&](const CodeMeaning &meaning) {
    return meaning.first <= code && code <= meaning.last;
  });
  const bool known = found != std::end(meanings);
  return {known ? found->owner : Owner::Device,
          fmt::format("{}: {}: {} ({})", doing, call, text ? text : "unknown error", code),
          known ? found->remedy : look_at_driver,
          {}};
}

Result<HipGpu> describe_gpu(const HipApi &api, int index) {
  // Room beyond the struct for a later HIP that made it longer.
  std::vector<char> bytes(4 * properties_size);
  NEREID_CHECK(api.check(api.hipGetDevicePropertiesR0600(bytes.data(), index), "hipGetDevicePropertiesR0600",
                         [&] { return fmt::format("GPU {}", index); }));
  const auto megahertz = [&](size_t offset) {
    return static_cast<unsigned>(number_at<int>(bytes, offset)) / 1000;
  };
  return HipGpu{text_at(bytes, name_offset),
                {.architecture = text_at(bytes, architecture_offset),
                 .compute_units = number_at<unsigned>(bytes, compute_units_offset),
                 .wave_size = number_at<unsigned>(bytes, wave_size_offset),
                 .lds_bytes = number_at<size_t>(bytes, lds_offset),
                 .memory_bytes = number_at<size_t>(bytes, memory_offset),
                 .clock_mhz = megahertz(clock_offset),
                 .memory_clock_mhz = megahertz(memory_clock_offset)}};
}

} // namespace nereid::jit
