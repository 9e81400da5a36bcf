// A gfx950 GPU as a device, by HIP.
#include <map>

#include <fmt/format.h>

#include "jit/compile/compiled_kernel.h"
#include "jit/compile/compiler.h"
#include "jit/device/device_interface.h"
#include "jit/device/hip_api.h"

namespace nereid::jit {
namespace {

constexpr int host_to_device = 1;
constexpr int device_to_host = 2;
constexpr unsigned non_blocking_stream = 1;

/// A HIP handle, destroyed with its owner.
class Handle {
public:
  Handle(void *value, int (*destroy)(void *)) : value_(value), destroy_(destroy) {}
  ~Handle() { destroy_(value_); }
  Handle(const Handle &) = delete;
  Handle &operator=(const Handle &) = delete;
  void *get() const { return value_; }

private:
  void *value_;
  int (*destroy_)(void *);
};

class HipStream : public StreamState {
public:
  HipStream(const HipApi &api, void *stream) : handle(stream, api.hipStreamDestroy) {}
  Handle handle;
};

class HipEvent : public EventState {
public:
  HipEvent(const HipApi &api, void *event) : handle(event, api.hipEventDestroy), api_(api) {}
  Result<double> milliseconds_until(const EventState &later) const override {
    void *end = static_cast<const HipEvent &>(later).handle.get();
    NEREID_CHECK(api_.check(api_.hipEventSynchronize(end), "hipEventSynchronize"));
    float milliseconds = 0;
    NEREID_CHECK(
        api_.check(api_.hipEventElapsedTime(&milliseconds, handle.get(), end), "hipEventElapsedTime"));
    return double{milliseconds};
  }
  Handle handle;

private:
  const HipApi &api_;
};

class HipKernel : public LoadedKernel {
public:
  HipKernel(const HipApi &api, void *module) : module(module, api.hipModuleUnload) {}
  Handle module;
  void *function = nullptr;
};

class HipModule : public LoadedModule {
public:
  HipModule(const HipApi &api, void *module) : module(module, api.hipModuleUnload) {}
  Handle module;
  std::map<std::string, void *> functions; ///< by the kernel's name
};

void *handle_of(StreamState *stream) {
  return stream ? static_cast<HipStream *>(stream)->handle.get() : nullptr;
}
// Device addresses and tags of HIP are integers here.
void *pointer(uint64_t value) { return reinterpret_cast<void *>(value); } // NOLINT(performance-no-int-to-ptr)

class HipDevice final : public DeviceInterface {
public:
  HipDevice(const HipApi &api, int index, const HipGpu &gpu)
      : api_(api), index_(index),
        name_(fmt::format("{} ({}, {} compute units)", gpu.name, gpu.architecture, gpu.compute_units)) {}

  DeviceKind kind() const override { return DeviceKind::Hip; }
  std::string name() const override { return name_; }

  Result<uint64_t> allocate(size_t bytes) override {
    void *memory = nullptr;
    NEREID_CHECK(call(api_.hipMalloc, "hipMalloc", &memory, std::max<size_t>(bytes, 1)));
    return reinterpret_cast<uint64_t>(memory);
  }
  void free(uint64_t address) override { (void)call(api_.hipFree, "hipFree", pointer(address)); }

  Status write(uint64_t to, const void *from, size_t bytes) override {
    return then_wait(
        call(api_.hipMemcpyAsync, "hipMemcpyAsync", pointer(to), from, bytes, host_to_device, nullptr));
  }
  Status read(void *to, uint64_t from, size_t bytes) override {
    return then_wait(
        call(api_.hipMemcpyAsync, "hipMemcpyAsync", to, pointer(from), bytes, device_to_host, nullptr));
  }
  Status fill(uint64_t address, uint8_t byte, size_t bytes) override {
    return then_wait(call(api_.hipMemsetAsync, "hipMemsetAsync", pointer(address), byte, bytes, nullptr));
  }
  Result<HostMemory> host_memory() override {
    return environment_error("the interpreter cannot see a GPU's memory",
                             "Interpret on Device::simulator(), or unset NEREID_INTERPRET");
  }

  Result<std::shared_ptr<StreamState>> new_stream() override {
    void *stream = nullptr;
    NEREID_CHECK(
        call(api_.hipStreamCreateWithFlags, "hipStreamCreateWithFlags", &stream, non_blocking_stream));
    return std::shared_ptr<StreamState>(std::make_shared<HipStream>(api_, stream));
  }
  Status synchronize(StreamState *stream) override {
    return call(api_.hipStreamSynchronize, "hipStreamSynchronize", handle_of(stream));
  }
  Status synchronize_all() override { return call(api_.hipDeviceSynchronize, "hipDeviceSynchronize"); }
  Result<std::shared_ptr<EventState>> record(StreamState *stream) override {
    void *event = nullptr;
    NEREID_CHECK(call(api_.hipEventCreate, "hipEventCreate", &event));
    auto state = std::make_shared<HipEvent>(api_, event);
    NEREID_CHECK(call(api_.hipEventRecord, "hipEventRecord", event, handle_of(stream)));
    return std::shared_ptr<EventState>(std::move(state));
  }

  Result<std::shared_ptr<const LoadedKernel>> load(const CompiledKernel &kernel) override {
    void *module = nullptr;
    NEREID_CHECK(call(api_.hipModuleLoadData, "hipModuleLoadData", &module,
                      static_cast<const void *>(kernel.code_object().data())));
    auto state = std::make_shared<HipKernel>(api_, module);
    NEREID_CHECK(call(api_.hipModuleGetFunction, "hipModuleGetFunction", &state->function, module,
                      kernel.name().c_str()));
    return std::shared_ptr<const LoadedKernel>(std::move(state));
  }

  Result<LaunchOutcome> launch(StreamState *stream, const LaunchRequest &request) override {
    constexpr uint64_t buffer_pointer = 1, buffer_size = 2, end = 3;
    size_t size = request.kernarg.size();
    void *extra[] = {pointer(buffer_pointer), const_cast<std::byte *>(request.kernarg.data()),
                     pointer(buffer_size), &size, pointer(end)};
    const auto [x, y, z] = request.grid.sizes();
    NEREID_CHECK(call(api_.hipModuleLaunchKernel, "hipModuleLaunchKernel",
                      static_cast<const HipKernel &>(request.kernel).function, x, y, z, request.block, 1u, 1u,
                      0u, handle_of(stream), nullptr, extra));
    return LaunchOutcome();
  }

  Result<std::shared_ptr<const LoadedModule>> load_module(std::span<const uint8_t> code_object,
                                                          std::span<const KernelMetadata> kernels) override {
    void *module = nullptr;
    NEREID_CHECK(call(api_.hipModuleLoadData, "hipModuleLoadData", &module,
                      static_cast<const void *>(code_object.data())));
    auto state = std::make_shared<HipModule>(api_, module);
    for (const KernelMetadata &kernel : kernels)
      NEREID_CHECK(call(api_.hipModuleGetFunction, "hipModuleGetFunction", &state->functions[kernel.name],
                        module, kernel.name.c_str()));
    return std::shared_ptr<const LoadedModule>(std::move(state));
  }

  Result<LaunchOutcome> launch_module(StreamState *stream, const ModuleLaunch &launch) override {
    constexpr uint64_t buffer_pointer = 1, buffer_size = 2, end = 3;
    size_t size = launch.kernarg.size();
    void *extra[] = {pointer(buffer_pointer), const_cast<std::byte *>(launch.kernarg.data()),
                     pointer(buffer_size), &size, pointer(end)};
    const auto [x, y, z] = launch.grid.sizes();
    const auto [block_x, block_y, block_z] = launch.block;
    NEREID_CHECK(call(api_.hipModuleLaunchKernel, "hipModuleLaunchKernel",
                      static_cast<const HipModule &>(launch.module).functions.at(launch.kernel.name), x, y, z,
                      block_x, block_y, block_z, launch.dynamic_lds, handle_of(stream), nullptr, extra));
    return LaunchOutcome();
  }

private:
  /// The current device belongs to the calling thread, so every call sets it.
  template <class... P, class... A>
  Status call(int (*function)(P...), const char *name, A... arguments) const {
    NEREID_CHECK(api_.check(api_.hipSetDevice(index_), "hipSetDevice"));
    return api_.check(function(static_cast<P>(arguments)...), name);
  }
  Status then_wait(const Status &queued) const {
    return queued ? call(api_.hipStreamSynchronize, "hipStreamSynchronize", nullptr) : queued;
  }

  const HipApi &api_;
  int index_;
  std::string name_;
};

} // namespace

Result<std::shared_ptr<DeviceInterface>> make_hip_device(int index) {
  NEREID_TRY(const HipApi *opened, HipApi::open());
  const HipApi &api = *opened;
  int count = 0;
  Status counted = api.check(api.hipInit(0), "hipInit");
  if (counted)
    counted = api.check(api.hipGetDeviceCount(&count), "hipGetDeviceCount");
  if (!counted || count == 0)
    return environment_error(fmt::format("{} finds no GPU{}", api.library,
                                         counted ? std::string() : ": " + counted.error().message),
                             "The simulator serves");
  if (index < 0 || index >= count)
    return user_error(fmt::format("there is no GPU {}: this machine has {}", index, count));
  NEREID_TRY(const HipGpu gpu, describe_gpu(api, index));
  if (!gpu.architecture.starts_with(target_cpu))
    return environment_error(
        fmt::format("GPU {} is a {} ({}), not a {}", index, gpu.name, gpu.architecture, target_cpu),
        "The simulator serves");
  return std::shared_ptr<DeviceInterface>(std::make_shared<HipDevice>(api, index, gpu));
}

} // namespace nereid::jit
