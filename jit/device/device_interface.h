#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "dsl/interpreter/host_memory.h"
#include "jit/cache/kernel_cache.h"
#include "jit/device/argument_value.h"
#include "jit/device/device.h"
#include "jit/device/launch.h"
#include "jit/device/loaded_module.h"

namespace nereid::jit {

/// A code object in a device's memory. Owned by a shared pointer, which graphs share.
class LoadedKernel : public std::enable_shared_from_this<LoadedKernel> {
public:
  virtual ~LoadedKernel() = default;
};

/// A device's own form of a stream. Owned by a shared pointer; what outlives it may hold a weak one.
class StreamState : public std::enable_shared_from_this<StreamState> {
public:
  virtual ~StreamState() = default;

  /// Within Stream::capture(): gives the graph a share of what it uses. False outside of it.
  bool keep(std::shared_ptr<const void> what);

  /// Of Stream::capture(). False when it runs already.
  bool start_keeping();
  std::vector<std::shared_ptr<const void>> take_kept();

private:
  std::mutex mutex_;
  bool keeps_ = false;
  std::vector<std::shared_ptr<const void>> kept_;
};

/// A device's own form of an event.
class EventState {
public:
  virtual ~EventState() = default;
  /// Waits for both. `later` is of the same device.
  virtual Result<double> milliseconds_until(const EventState &later) const = 0;
};

/// A device's own form of a graph. Its members may be called from several threads at once.
class GraphState {
public:
  virtual ~GraphState() = default;
  virtual Status instantiate() = 0;
  /// The stream is of the graph's device and not being captured.
  virtual Status launch(StreamState *stream) = 0;
  /// `other` is another graph of the same device.
  virtual Status update(GraphState &other) = 0;
};

/// A value that is repeated in memory: its first 1, 2 or 4 bytes.
struct FillPattern {
  uint32_t bits = 0;
  unsigned bytes = 1;
};

/// One launch of a loaded kernel.
struct LaunchRequest {
  const LoadedKernel &kernel;
  const CompiledKernel &compiled; ///< for messages: name, source lines
  Grid grid;
  unsigned block; ///< work-items of a workgroup
  std::span<const std::byte> kernarg;
};

/// What Device, Buffer, Stream and Kernel need of a device. All members may be called from several threads at
/// once.
class DeviceInterface {
public:
  virtual ~DeviceInterface() = default;

  virtual DeviceKind kind() const = 0;
  virtual std::string name() const = 0;
  /// What every launch would refuse: options, variables of the environment.
  virtual Status check() const { return {}; }
  virtual const DeviceProperties &properties() const = 0;

  virtual Result<uint64_t> allocate(size_t bytes) = 0;
  virtual void free(uint64_t address) = 0;
  /// Copies and fills are over when they return; they come after what the default stream holds.
  virtual Status write(uint64_t to, const void *from, size_t bytes) = 0;
  virtual Status read(void *to, uint64_t from, size_t bytes) = 0;
  virtual Status fill(uint64_t address, uint8_t byte, size_t bytes) = 0;
  /// Memory of the device's pool, allocated and freed in the order of a stream.
  virtual Result<uint64_t> allocate_in_order(StreamState *stream, size_t bytes) = 0;
  virtual void free_in_order(StreamState *stream, uint64_t address) = 0;
  virtual Result<PoolUse> pool_use() = 0;
  /// Gives back what the pool holds beyond `keep` bytes and no buffer has.
  virtual Status trim_pool(size_t keep) = 0;
  /// Error (User) when the device knows that these bytes are not memory of it.
  virtual Status check_memory(uint64_t address, size_t bytes) = 0;

  /// Queued in the stream; host memory has to stay until the stream is done with it.
  virtual Status write_async(StreamState *stream, uint64_t to, const void *from, size_t bytes) = 0;
  virtual Status read_async(StreamState *stream, void *to, uint64_t from, size_t bytes) = 0;
  virtual Status fill_async(StreamState *stream, uint64_t address, FillPattern pattern, size_t count) = 0;
  /// From memory of `source`, this device or another of the same kind.
  virtual Status copy_async(StreamState *stream, uint64_t to, DeviceInterface &source, uint64_t from,
                            size_t bytes) = 0;

  /// Whether kernels here can be given access to the memory of another device of the same kind, and that.
  virtual Result<bool> can_access(const DeviceInterface &peer) = 0;
  virtual Status enable_access(const DeviceInterface &peer) = 0;
  /// Whether they have it.
  virtual bool has_access(const DeviceInterface &peer) const { return &peer == this; }

  /// All allocations as the host sees them, for the interpreter. Environment error when it sees none of them.
  virtual Result<HostMemory> host_memory() = 0;

  /// A null stream is the default one, here and below.
  virtual Result<std::shared_ptr<StreamState>> new_stream() = 0;
  /// Somebody else's stream, which has to outlive the state; the same state for the same handle, null for
  /// that of the default stream.
  virtual Result<std::shared_ptr<StreamState>> external_stream(void *handle) = 0;
  virtual Status synchronize(StreamState *stream) = 0;
  virtual Status synchronize_all() = 0;
  virtual Result<std::shared_ptr<EventState>> record(StreamState *stream) = 0;
  /// What is queued in the stream from now on comes after an event of this device.
  virtual Status wait(StreamState *stream, const EventState &event) = 0;

  /// Whether what the stream is given is recorded in place of being queued, by whomever.
  virtual Result<bool> is_capturing(StreamState *stream) = 0;
  virtual Status begin_capture(StreamState &stream) = 0;
  virtual Result<std::shared_ptr<GraphState>> end_capture(StreamState &stream) = 0;

  virtual Result<std::shared_ptr<const LoadedKernel>> load(const CompiledKernel &kernel) = 0;
  virtual Result<LaunchOutcome> launch(StreamState *stream, const LaunchRequest &request) = 0;
  /// Runs work of the host on host_memory() in the order of the stream, or records it. Where the host sees no
  /// memory there is nothing to wait for.
  virtual Status run_on_host(StreamState *, const std::function<Status()> &work) { return work(); }

  /// `kernels` are those of the code object's metadata.
  virtual Result<std::shared_ptr<const LoadedModule>>
  load_module(std::span<const uint8_t> code_object, std::span<const KernelMetadata> kernels) = 0;
  virtual Result<LaunchOutcome> launch_module(StreamState *stream, const ModuleLaunch &launch) = 0;

  /// The kernels that this device has loaded.
  KernelCache &kernels() { return kernels_; }

  /// How many captures of Stream::capture() run on streams of this device.
  std::atomic<int> &captures() { return captures_; }

  /// Launches that ended early by a fault, of a device that lives on after one: what they wrote is anything.
  uint64_t faults() const { return faults_; }

protected:
  void count_fault() { ++faults_; }

private:
  KernelCache kernels_;
  std::atomic<int> captures_ = 0;
  std::atomic<uint64_t> faults_ = 0;
};

/// A new simulator.
std::shared_ptr<DeviceInterface> make_sim_device(const SimulatorOptions &options);
/// GPU number `index`, or why there is none.
Result<std::shared_ptr<DeviceInterface>> make_hip_device(int index);
/// The number of the first gfx950 GPU, or why there is none.
Result<int> first_hip_device();

} // namespace nereid::jit
