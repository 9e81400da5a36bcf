#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "jit/device/buffer.h"
#include "jit/device/device_properties.h"
#include "jit/device/graph.h"
#include "sim/launch/launch_time.h"

namespace nereid {

namespace jit {
class DeviceInterface;
class StreamState;
class EventState;
} // namespace jit

/// The kinds of devices.
enum class DeviceKind : uint8_t { Simulator, Hip };

/// A simulated device, and what it watches while kernels run.
struct SimulatorOptions {
  unsigned threads = 0;                 ///< host threads that run workgroups; 0: one a core
  uint64_t memory = uint64_t{64} << 30; ///< bytes of device memory that can be allocated
  /// What the simulator looks for while kernels run: "all", "none", or kinds separated by commas
  /// (docs/simulator.md). Empty: what NEREID_SIM_CHECKS says, else none. A bad word is the error of launches.
  std::string checks;
  /// Wave instructions of all waves after which a launch ends with an error. 0: what NEREID_SIM_BUDGET says,
  /// else 2^32. A bad number there is the error of launches.
  uint64_t budget = 0;
  /// Whether launches are timed (LaunchInfo::time), and what their caches hold.
  sim::Timing timing = sim::Timing::Off;
  sim::CacheState caches = sim::CacheState::Cold;
};

class Device;

/// A point in a stream, for timing. Copies share the event.
class Event {
public:
  /// Milliseconds from this event to a later one; waits for both. Error (User): they are of two devices.
  Result<double> milliseconds_until(const Event &later) const;

private:
  friend class Stream;
  Event(std::shared_ptr<jit::DeviceInterface> device, std::shared_ptr<jit::EventState> state)
      : device_(std::move(device)), state_(std::move(state)) {}
  std::shared_ptr<jit::DeviceInterface> device_;
  std::shared_ptr<jit::EventState> state_;
};

/// An order of launches and copies on a device. Copies share the stream.
class Stream {
public:
  /// Waits until everything queued here is done; a fault of a launch is reported here at the latest. Error
  /// (User): the stream is being captured.
  Status synchronize() const;
  /// An event after everything queued so far. Error (User): the stream is being captured.
  Result<Event> record() const;
  /// What is queued here from now on comes after the event. Errors (User): the event is of another device;
  /// the stream is being captured.
  Status wait(const Event &event) const;
  Device device() const;

  /// Runs `work` with this stream in capture: launches, asynchronous copies and fills that it queues here are
  /// recorded in place of being done. Recorded kernels must have been built before (LaunchOptions::prepare).
  /// Errors: what `work` returns; the default stream or one that is being captured (User).
  Result<Graph> capture(const std::function<Status()> &work) const;
  /// Whether it is being captured, by capture() or by the owner of an external stream.
  Result<bool> is_capturing() const;
  /// Within capture(): the graph shares `what`, for work whose memory the caller does not own. False outside
  /// of it, and in a capture of somebody else.
  bool keep(std::shared_ptr<const void> what) const;

  /// A buffer of the device's pool for what is queued here from now on, its contents undefined. When it is
  /// destroyed, the memory goes back to the pool after what is queued here by then: neither waits. Other
  /// streams have to be ordered by events. Errors: as of Device::allocate; the stream is being captured
  /// (User).
  template <class T> Result<Buffer<T>> allocate(size_t count) const {
    NEREID_TRY(jit::Allocation memory, allocate_memory(count, sizeof(T)));
    return Buffer<T>(std::move(memory));
  }

  jit::DeviceInterface &interface() const & { return *device_; }
  jit::DeviceInterface &interface() const && = delete;
  /// Null for the default stream.
  jit::StreamState *state() const & { return state_.get(); }
  jit::StreamState *state() const && = delete;

private:
  friend class Device;
  Stream(std::shared_ptr<jit::DeviceInterface> device, std::shared_ptr<jit::StreamState> state)
      : device_(std::move(device)), state_(std::move(state)) {}
  Result<jit::Allocation> allocate_memory(size_t count, size_t element) const;
  std::shared_ptr<jit::DeviceInterface> device_;
  std::shared_ptr<jit::StreamState> state_;
};

/// A gfx950 GPU or the simulator of one. A value: copies share the device, its memory and its loaded kernels.
class Device {
public:
  /// The first gfx950 GPU of all that the machine has, else the simulator. Always the same device within a
  /// process.
  static Device best();
  /// A simulator of its own, with its own memory.
  static Device simulator(const SimulatorOptions &options = {});
  /// The first gfx950 GPU, or why there is none (environment error).
  static Result<Device> hip();
  /// GPU number `index`, the same device at every call. Errors: no such number (User), no gfx950
  /// (Environment).
  static Result<Device> hip(int index);
  /// "sim", "hip" or "auto".
  static Result<Device> named(std::string_view name);

  explicit Device(std::shared_ptr<jit::DeviceInterface> interface) : interface_(std::move(interface)) {}

  DeviceKind kind() const;
  /// For people: "gfx950 simulator", or the GPU's own name.
  std::string name() const;
  /// "sim" or "hip".
  std::string_view kind_name() const;
  DeviceProperties properties() const;

  /// The default stream.
  Stream stream() const;
  /// A stream of its own, unordered with the others.
  Result<Stream> new_stream() const;
  /// A stream that somebody else owns, a hipStream_t, and destroys after the last use here; null is the
  /// default stream. On the simulator a handle is only a name: the same one is the same stream. Error (User):
  /// a stream of another GPU.
  Result<Stream> external_stream(void *handle) const;
  Status synchronize() const;
  /// What keeps every launch from running: options of the device, variables of the environment (user error).
  Status check() const;

  /// A buffer of `bytes` bytes, its contents undefined.
  Result<Buffer<std::byte>> allocate(size_t bytes) const;
  /// A buffer of `count` elements, its contents undefined.
  template <class T> Result<Buffer<T>> allocate(size_t count) const {
    NEREID_TRY(jit::Allocation memory, allocate_memory(count, sizeof(T)));
    return Buffer<T>(std::move(memory));
  }
  /// A buffer with a copy of host data.
  template <class T> Result<Buffer<T>> upload(const std::vector<T> &data) const {
    NEREID_TRY(Buffer<T> buffer, allocate<T>(data.size()));
    NEREID_CHECK(buffer.copy_from_host(data));
    return buffer;
  }

  /// A buffer of memory that somebody else owns and frees after the last use of it. Errors (User): null; on
  /// the simulator, memory that is not within one of its buffers.
  template <class T> Result<Buffer<T>> external_buffer(const void *memory, size_t count) const {
    NEREID_TRY(jit::Allocation range, external_memory(memory, count, sizeof(T)));
    return Buffer<T>(std::move(range));
  }

  /// The memory behind Stream::allocate.
  Result<PoolUse> pool_use() const;
  /// Gives back what the pool holds beyond `keep` bytes and no buffer has.
  Status trim_pool(size_t keep = 0) const;

  /// Whether kernels of this device can access memory of another, when enable_access() allows it. Simulators
  /// cannot; copies between devices need neither.
  Result<bool> can_access(const Device &peer) const;
  /// From now on they may. Error (Environment): these devices cannot.
  Status enable_access(const Device &peer) const;

  jit::DeviceInterface &interface() const & { return *interface_; }
  jit::DeviceInterface &interface() const && = delete;
  bool operator==(const Device &other) const { return interface_ == other.interface_; }

private:
  Result<jit::Allocation> allocate_memory(size_t count, size_t element) const;
  Result<jit::Allocation> external_memory(const void *memory, size_t count, size_t element) const;

  std::shared_ptr<jit::DeviceInterface> interface_;
};

/// One line of what this machine has: a device, or why it is not there.
struct DeviceAvailability {
  std::string name; ///< "sim", "hip"
  bool available = false;
  std::string detail; ///< what it is, or the reason
};

/// Both kinds of device, in the order in which Device::best() takes them.
std::vector<DeviceAvailability> devices();

} // namespace nereid
