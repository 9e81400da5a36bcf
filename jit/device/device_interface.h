#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "dsl/interpreter/host_memory.h"
#include "jit/cache/kernel_cache.h"
#include "jit/device/argument_value.h"
#include "jit/device/device.h"
#include "jit/device/launch.h"
#include "jit/device/loaded_module.h"

namespace nereid::jit {

/// A code object in a device's memory.
class LoadedKernel {
public:
  virtual ~LoadedKernel() = default;
};

/// A device's own form of a stream and of an event.
class StreamState {
public:
  virtual ~StreamState() = default;
};
class EventState {
public:
  virtual ~EventState() = default;
  virtual Result<double> milliseconds_until(const EventState &later) const = 0;
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

  virtual Result<uint64_t> allocate(size_t bytes) = 0;
  virtual void free(uint64_t address) = 0;
  /// Copies and fills are over when they return; they come after what the default stream holds.
  virtual Status write(uint64_t to, const void *from, size_t bytes) = 0;
  virtual Status read(void *to, uint64_t from, size_t bytes) = 0;
  virtual Status fill(uint64_t address, uint8_t byte, size_t bytes) = 0;
  /// All allocations as the host sees them, for the interpreter. Environment error when it sees none of them.
  virtual Result<HostMemory> host_memory() = 0;

  /// A null stream is the default one, here and below.
  virtual Result<std::shared_ptr<StreamState>> new_stream() = 0;
  virtual Status synchronize(StreamState *stream) = 0;
  virtual Status synchronize_all() = 0;
  virtual Result<std::shared_ptr<EventState>> record(StreamState *stream) = 0;

  virtual Result<std::shared_ptr<const LoadedKernel>> load(const CompiledKernel &kernel) = 0;
  virtual Result<LaunchOutcome> launch(StreamState *stream, const LaunchRequest &request) = 0;

  /// `kernels` are those of the code object's metadata.
  virtual Result<std::shared_ptr<const LoadedModule>>
  load_module(std::span<const uint8_t> code_object, std::span<const KernelMetadata> kernels) = 0;
  virtual Result<LaunchOutcome> launch_module(StreamState *stream, const ModuleLaunch &launch) = 0;

  /// The kernels that this device has loaded.
  KernelCache &kernels() { return kernels_; }

private:
  KernelCache kernels_;
};

/// A new simulator.
std::shared_ptr<DeviceInterface> make_sim_device(const SimulatorOptions &options);
/// GPU number `index`, or why there is none.
Result<std::shared_ptr<DeviceInterface>> make_hip_device(int index);

} // namespace nereid::jit
