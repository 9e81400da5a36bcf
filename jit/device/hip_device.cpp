// A gfx950 GPU as a device, by HIP.
#include "jit/device/hip_device.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "jit/compile/compiled_kernel.h"
#include "jit/compile/compiler.h"
#include "jit/device/hip_graph.h"

namespace nereid::jit {
namespace {

constexpr int host_to_device = 1;
constexpr int device_to_host = 2;
constexpr int device_to_device = 3;
constexpr unsigned non_blocking_stream = 1;
/// Allocations and module loads stay allowed: nothing that is captured depends on them.
constexpr int relaxed_capture = 2;

/// Handles of HIP itself in place of a stream's: the default stream, and that of the thread.
constexpr uintptr_t last_special_stream = 2;

class HipStream : public StreamState {
public:
  HipStream(const HipApi &api, int index, void *stream, bool owned)
      : handle(api, index, stream, owned ? api.hipStreamDestroy : nullptr) {}
  HipHandle handle;
};

class HipEvent : public EventState {
public:
  HipEvent(const HipApi &api, int index, void *event)
      : handle(api, index, event, api.hipEventDestroy), api_(api), index_(index) {}
  Result<double> milliseconds_until(const EventState &later) const override {
    const auto doing = [] { return "the time between two events"; };
    void *end = static_cast<const HipEvent &>(later).handle.get();
    for (void *event : {handle.get(), end})
      NEREID_CHECK(hip_call(api_, index_, doing, "hipEventSynchronize", api_.hipEventSynchronize, event));
    float milliseconds = 0;
    NEREID_CHECK(hip_call(api_, index_, doing, "hipEventElapsedTime", api_.hipEventElapsedTime, &milliseconds,
                          handle.get(), end));
    return double{milliseconds};
  }
  HipHandle handle;

private:
  const HipApi &api_;
  int index_;
};

class HipKernel : public LoadedKernel {
public:
  HipKernel(const HipApi &api, int index, void *module) : module(api, index, module, api.hipModuleUnload) {}
  HipHandle module;
  void *function = nullptr;
};

// Device addresses and tags of HIP are integers here.
void *pointer(uint64_t value) { return reinterpret_cast<void *>(value); } // NOLINT(performance-no-int-to-ptr)

/// What a call was for.
auto copy_of(size_t bytes, const char *direction) {
  return [=] { return fmt::format("a copy of {} bytes {}", bytes, direction); };
}

/// hipMemLocation of a GPU, which starts two structs of pools.
struct MemLocation {
  int type = 1; // a device
  int index = 0;
};
/// hipMemPoolProps.
struct MemPoolProps {
  int allocation = 1; // pinned: the only kind
  int handles = 0;
  MemLocation location;
  void *windows = nullptr;
  size_t max_bytes = 0;
  std::array<unsigned char, 56> reserved{};
};
/// hipMemAccessDesc.
struct MemAccess {
  MemLocation location;
  int flags = 3; // read and write
};
enum PoolAttribute : int { ReleaseThreshold = 4, ReservedBytes = 5, UsedBytes = 7 };

} // namespace

void *hip_stream(StreamState *stream) {
  return stream ? static_cast<HipStream *>(stream)->handle.get() : nullptr;
}

HipDevice::HipDevice(const HipApi &api, int index, HipGpu gpu)
    : api_(api), index_(index), name_(fmt::format("{} ({}, {} compute units)", gpu.name,
                                                  gpu.properties.architecture, gpu.properties.compute_units)),
      properties_(std::move(gpu.properties)) {}

/// In the simulator's words.
Error HipDevice::without_memory(size_t bytes) const {
  (void)api_.hipGetLastError();
  std::string message = fmt::format("out of device memory: {} bytes asked", bytes);
  size_t free = 0, total = 0;
  if (call([] { return ""; }, "hipMemGetInfo", api_.hipMemGetInfo, &free, &total))
    message += fmt::format(", {} of {} in use", total - free, total);
  return user_error(message, "Free buffers or use smaller ones");
}

template <class Function>
Result<uint64_t> HipDevice::allocate_by(const char *name, size_t bytes, const Function &function) const {
  const CurrentGpu current(api_, index_);
  const auto doing = [&] { return fmt::format("allocating {} bytes", bytes); };
  NEREID_CHECK(current.check(doing));
  void *memory = nullptr;
  const int code = function(&memory, std::max<size_t>(bytes, 1));
  if (code == hip_out_of_memory)
    return without_memory(bytes);
  NEREID_CHECK(api_.check(code, name, doing));
  return reinterpret_cast<uint64_t>(memory);
}

Result<uint64_t> HipDevice::allocate(size_t bytes) { return allocate_by("hipMalloc", bytes, api_.hipMalloc); }

void HipDevice::free(uint64_t address) {
  if (HipApi::is_gone())
    return;
  // Nothing can be done about an error, nor does a wrong current device keep it from being freed.
  const CurrentGpu current(api_, index_);
  if (api_.hipFree(pointer(address)))
    (void)api_.hipGetLastError();
}

Result<void *> HipDevice::pool() {
  const std::lock_guard lock(mutex_);
  if (pool_)
    return pool_->get();
  const auto doing = [] { return "making a memory pool"; };
  MemPoolProps props;
  props.location.index = index_;
  void *made = nullptr;
  NEREID_CHECK(call(doing, "hipMemPoolCreate", api_.hipMemPoolCreate, &made, &props));
  auto handle = std::make_unique<const HipHandle>(api_, index_, made, api_.hipMemPoolDestroy);
  // What is freed stays in the pool until it is trimmed.
  uint64_t threshold = UINT64_MAX;
  NEREID_CHECK(
      call(doing, "hipMemPoolSetAttribute", api_.hipMemPoolSetAttribute, made, ReleaseThreshold, &threshold));
  pool_ = std::move(handle);
  for (const int peer : pool_peers_)
    NEREID_CHECK(let_pool_be_used(peer));
  return made;
}

Result<uint64_t> HipDevice::allocate_in_order(StreamState *stream, size_t bytes) {
  NEREID_TRY(void *const from, pool());
  return allocate_by("hipMallocFromPoolAsync", bytes, [&](void **memory, size_t size) {
    return api_.hipMallocFromPoolAsync(memory, size, from, hip_stream(stream));
  });
}

void HipDevice::free_in_order(StreamState *stream, uint64_t address) {
  if (HipApi::is_gone())
    return;
  // A capture would take the free as work to be repeated.
  if (const Result<bool> capturing = is_capturing(stream); capturing && *capturing)
    return free(address);
  const CurrentGpu current(api_, index_);
  if (api_.hipFreeAsync(pointer(address), hip_stream(stream)))
    (void)api_.hipGetLastError();
}

Result<PoolUse> HipDevice::pool_use() {
  NEREID_TRY(void *const of, pool());
  const auto doing = [] { return "the use of the memory pool"; };
  PoolUse use;
  NEREID_CHECK(
      call(doing, "hipMemPoolGetAttribute", api_.hipMemPoolGetAttribute, of, ReservedBytes, &use.reserved));
  NEREID_CHECK(call(doing, "hipMemPoolGetAttribute", api_.hipMemPoolGetAttribute, of, UsedBytes, &use.used));
  return use;
}

Status HipDevice::trim_pool(size_t keep) {
  NEREID_TRY(void *const of, pool());
  return call([] { return "trimming the memory pool"; }, "hipMemPoolTrimTo", api_.hipMemPoolTrimTo, of, keep);
}

Status HipDevice::then_wait(const Status &queued) const {
  if (!queued)
    return queued;
  const auto doing = [] { return "waiting for a copy or fill"; };
  Status waited = call(doing, "hipStreamSynchronize", api_.hipStreamSynchronize, nullptr);
  // Once this returns, the host's memory may go: no copy may go on.
  if (!waited)
    (void)call(doing, "hipDeviceSynchronize", api_.hipDeviceSynchronize);
  return waited;
}

Status HipDevice::write(uint64_t to, const void *from, size_t bytes) {
  return then_wait(write_async(nullptr, to, from, bytes));
}

Status HipDevice::read(void *to, uint64_t from, size_t bytes) {
  return then_wait(read_async(nullptr, to, from, bytes));
}

Status HipDevice::fill(uint64_t address, uint8_t byte, size_t bytes) {
  return then_wait(fill_async(nullptr, address, {byte, 1}, bytes));
}

Status HipDevice::write_async(StreamState *stream, uint64_t to, const void *from, size_t bytes) {
  return call(copy_of(bytes, "to the device"), "hipMemcpyAsync", api_.hipMemcpyAsync, pointer(to), from,
              bytes, host_to_device, hip_stream(stream));
}

Status HipDevice::read_async(StreamState *stream, void *to, uint64_t from, size_t bytes) {
  return call(copy_of(bytes, "from the device"), "hipMemcpyAsync", api_.hipMemcpyAsync, to, pointer(from),
              bytes, device_to_host, hip_stream(stream));
}

Status HipDevice::fill_async(StreamState *stream, uint64_t address, FillPattern pattern, size_t count) {
  const auto doing = [&] { return fmt::format("a fill of {} bytes", count * pattern.bytes); };
  void *queue = hip_stream(stream);
  switch (pattern.bytes) {
  case 2:
    return call(doing, "hipMemsetD16Async", api_.hipMemsetD16Async, pointer(address), pattern.bits, count,
                queue);
  case 4:
    return call(doing, "hipMemsetD32Async", api_.hipMemsetD32Async, pointer(address), pattern.bits, count,
                queue);
  default:
    return call(doing, "hipMemsetAsync", api_.hipMemsetAsync, pointer(address), pattern.bits & 0xff, count,
                queue);
  }
}

Status HipDevice::copy_async(StreamState *stream, uint64_t to, DeviceInterface &source, uint64_t from,
                             size_t bytes) {
  const auto doing = copy_of(bytes, "between buffers");
  const int source_index = static_cast<HipDevice &>(source).index_;
  if (source_index == index_)
    return call(doing, "hipMemcpyAsync", api_.hipMemcpyAsync, pointer(to), pointer(from), bytes,
                device_to_device, hip_stream(stream));
  return call(doing, "hipMemcpyPeerAsync", api_.hipMemcpyPeerAsync, pointer(to), index_, pointer(from),
              source_index, bytes, hip_stream(stream));
}

Result<HostMemory> HipDevice::host_memory() {
  return environment_error("the interpreter cannot see a GPU's memory",
                           "Interpret on Device::simulator(), or unset NEREID_INTERPRET");
}

Result<bool> HipDevice::can_access(const DeviceInterface &peer) {
  int possible = 0;
  NEREID_CHECK(call([] { return "asking for access to a peer"; }, "hipDeviceCanAccessPeer",
                    api_.hipDeviceCanAccessPeer, &possible, index_,
                    static_cast<const HipDevice &>(peer).index_));
  return possible != 0;
}

Status HipDevice::let_pool_be_used(int peer) const {
  MemAccess access;
  access.location.index = peer;
  return call([&] { return fmt::format("giving GPU {} access to the memory pool", peer); },
              "hipMemPoolSetAccess", api_.hipMemPoolSetAccess, pool_->get(), &access, 1);
}

Status HipDevice::share_pool(int peer) {
  const std::lock_guard lock(mutex_);
  if (std::find(pool_peers_.begin(), pool_peers_.end(), peer) != pool_peers_.end())
    return {};
  if (pool_)
    NEREID_CHECK(let_pool_be_used(peer));
  pool_peers_.push_back(peer);
  return {};
}

Status HipDevice::enable_access(const DeviceInterface &peer) {
  // The pool of a device changes although what is asked changes nothing of it otherwise.
  auto &owner = const_cast<HipDevice &>(static_cast<const HipDevice &>(peer));
  const auto doing = [&] { return fmt::format("access of GPU {} to GPU {}", index_, owner.index_); };
  {
    const CurrentGpu current(api_, index_);
    NEREID_CHECK(current.check(doing));
    const int code = api_.hipDeviceEnablePeerAccess(owner.index_, 0);
    if (code == hip_peer_access_already_enabled)
      (void)api_.hipGetLastError();
    else
      NEREID_CHECK(api_.check(code, "hipDeviceEnablePeerAccess", doing));
  }
  NEREID_CHECK(owner.share_pool(index_));
  const std::lock_guard lock(mutex_);
  accessed_.insert(owner.index_);
  return {};
}

bool HipDevice::has_access(const DeviceInterface &peer) const {
  if (peer.kind() != DeviceKind::Hip)
    return false;
  const int owner = static_cast<const HipDevice &>(peer).index_;
  const std::lock_guard lock(mutex_);
  return owner == index_ || accessed_.count(owner) != 0;
}

Result<std::shared_ptr<StreamState>> HipDevice::new_stream() {
  void *stream = nullptr;
  NEREID_CHECK(call([] { return "making a stream"; }, "hipStreamCreateWithFlags",
                    api_.hipStreamCreateWithFlags, &stream, non_blocking_stream));
  return std::shared_ptr<StreamState>(std::make_shared<HipStream>(api_, index_, stream, true));
}

Result<std::shared_ptr<StreamState>> HipDevice::external_stream(void *handle) {
  if (!handle)
    return std::shared_ptr<StreamState>();
  return external_.find_or_make(handle, [&]() -> Result<std::shared_ptr<StreamState>> {
    int owner = index_;
    if (reinterpret_cast<uintptr_t>(handle) > last_special_stream)
      NEREID_CHECK(call([] { return "asking for the device of a stream"; }, "hipStreamGetDevice",
                        api_.hipStreamGetDevice, handle, &owner));
    if (owner != index_)
      return user_error(fmt::format("the stream is of GPU {}, and the device is GPU {}", owner, index_),
                        "Ask Device::hip() of the stream's GPU");
    return std::shared_ptr<StreamState>(std::make_shared<HipStream>(api_, index_, handle, false));
  });
}

Status HipDevice::synchronize(StreamState *stream) {
  return call([] { return "waiting for a stream"; }, "hipStreamSynchronize", api_.hipStreamSynchronize,
              hip_stream(stream));
}

Status HipDevice::synchronize_all() {
  return call([] { return "waiting for the device"; }, "hipDeviceSynchronize", api_.hipDeviceSynchronize);
}

Result<std::shared_ptr<EventState>> HipDevice::record(StreamState *stream) {
  const auto doing = [] { return "recording an event"; };
  void *event = nullptr;
  NEREID_CHECK(call(doing, "hipEventCreate", api_.hipEventCreate, &event));
  auto state = std::make_shared<HipEvent>(api_, index_, event);
  NEREID_CHECK(call(doing, "hipEventRecord", api_.hipEventRecord, event, hip_stream(stream)));
  return std::shared_ptr<EventState>(std::move(state));
}

Status HipDevice::wait(StreamState *stream, const EventState &event) {
  return call([] { return "a stream's wait for an event"; }, "hipStreamWaitEvent", api_.hipStreamWaitEvent,
              hip_stream(stream), static_cast<const HipEvent &>(event).handle.get(), 0);
}

Result<bool> HipDevice::is_capturing(StreamState *stream) {
  if (!stream)
    return false;
  int status = 0;
  NEREID_CHECK(call([] { return "asking for the state of a stream"; }, "hipStreamIsCapturing",
                    api_.hipStreamIsCapturing, hip_stream(stream), &status));
  return status != 0;
}

Status HipDevice::begin_capture(StreamState &stream) {
  return call([] { return "capturing a stream"; }, "hipStreamBeginCapture", api_.hipStreamBeginCapture,
              hip_stream(&stream), relaxed_capture);
}

Result<std::shared_ptr<GraphState>> HipDevice::end_capture(StreamState &stream) {
  void *graph = nullptr;
  NEREID_CHECK(call([] { return "ending a capture"; }, "hipStreamEndCapture", api_.hipStreamEndCapture,
                    hip_stream(&stream), &graph));
  auto handle = std::make_shared<const HipHandle>(api_, index_, graph, api_.hipGraphDestroy);
  return std::shared_ptr<GraphState>(std::make_shared<HipGraph>(api_, index_, std::move(handle)));
}

Result<std::shared_ptr<const LoadedKernel>> HipDevice::load(const CompiledKernel &kernel) {
  const auto doing = [&] {
    return fmt::format("kernel '{}': loading its code object of {} bytes", kernel.name(),
                       kernel.code_object().size());
  };
  void *module = nullptr;
  NEREID_CHECK(call(doing, "hipModuleLoadData", api_.hipModuleLoadData, &module,
                    static_cast<const void *>(kernel.code_object().data())));
  auto state = std::make_shared<HipKernel>(api_, index_, module);
  NEREID_CHECK(call(doing, "hipModuleGetFunction", api_.hipModuleGetFunction, &state->function, module,
                    kernel.name().c_str()));
  return std::shared_ptr<const LoadedKernel>(std::move(state));
}

Result<LaunchOutcome> HipDevice::launch(StreamState *stream, const LaunchRequest &request) {
  constexpr uint64_t buffer_pointer = 1, buffer_size = 2, end = 3;
  size_t size = request.kernarg.size();
  void *extra[] = {pointer(buffer_pointer), const_cast<std::byte *>(request.kernarg.data()),
                   pointer(buffer_size), &size, pointer(end)};
  const auto [x, y, z] = request.grid.sizes();
  const auto doing = [&] {
    return fmt::format("kernel '{}': launching {} x {} x {} programs of {} work-items",
                       request.compiled.name(), request.grid.x, request.grid.y, request.grid.z,
                       request.block);
  };
  NEREID_CHECK(call(doing, "hipModuleLaunchKernel", api_.hipModuleLaunchKernel,
                    static_cast<const HipKernel &>(request.kernel).function, x, y, z, request.block, 1u, 1u,
                    0u, hip_stream(stream), nullptr, extra));
  return LaunchOutcome();
}

namespace {

bool is_target(const HipGpu &gpu) {
  const std::string &architecture = gpu.properties.architecture;
  return architecture.substr(0, architecture.find(':')) == target_cpu;
}

std::string not_the_target(int index, const HipGpu &gpu) {
  return fmt::format("GPU {} is a {} ({}), not a {}", index, gpu.name, gpu.properties.architecture,
                     target_cpu);
}

} // namespace

Result<int> first_hip_device() {
  NEREID_TRY(const HipApi *api, HipApi::open());
  NEREID_TRY(const int count, api->gpu_count());
  std::string reasons;
  for (int index = 0; index < count; ++index) {
    const Result<HipGpu> gpu = describe_gpu(*api, index);
    if (gpu && is_target(*gpu))
      return index;
    reasons += (reasons.empty() ? "" : "; ") + (gpu ? not_the_target(index, *gpu) : gpu.error().message);
  }
  return environment_error(reasons.empty() ? api->library + " finds no GPU" : reasons,
                           "The simulator serves");
}

Result<std::shared_ptr<DeviceInterface>> make_hip_device(int index) {
  NEREID_TRY(const HipApi *api, HipApi::open());
  NEREID_TRY(const int count, api->gpu_count());
  if (count == 0)
    return environment_error(api->library + " finds no GPU", "The simulator serves");
  if (index < 0 || index >= count)
    return user_error(fmt::format("there is no GPU {}: this machine has {}", index, count));
  NEREID_TRY(HipGpu gpu, describe_gpu(*api, index));
  if (!is_target(gpu))
    return environment_error(not_the_target(index, gpu), "The simulator serves");
  return std::shared_ptr<DeviceInterface>(std::make_shared<HipDevice>(*api, index, std::move(gpu)));
}

} // namespace nereid::jit
