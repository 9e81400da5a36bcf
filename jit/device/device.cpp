// Devices, their streams and their memory, over what a kind of device implements.
#include "jit/device/device.h"

#include <map>
#include <mutex>

#include "jit/device/device_interface.h"

namespace nereid {

namespace jit {

Allocation::~Allocation() {
  if (!device_)
    return;
  if (source_ == Source::Device)
    device_->free(address_);
  else if (source_ == Source::Pool)
    device_->free_in_order(stream_.get(), address_);
}

Status Allocation::check(const Range &range) const {
  const size_t count = bytes_ / range.element;
  if (range.first <= count && range.count <= count - range.first)
    return {};
  return user_error("a copy of " + std::to_string(range.count) + " elements from element " +
                        std::to_string(range.first) + " on exceeds a buffer of " + std::to_string(count) +
                        " elements of " + std::to_string(range.element) + " bytes",
                    "Allocate a larger buffer or copy less");
}

Status Allocation::write(const Range &range, const void *from) {
  NEREID_CHECK(check(range));
  if (!range.count)
    return {};
  return device_->write(address_ + range.first * range.element, from, range.count * range.element);
}

Status Allocation::read(const Range &range, void *to) const {
  NEREID_CHECK(check(range));
  if (!range.count)
    return {};
  return device_->read(to, address_ + range.first * range.element, range.count * range.element);
}

Status Allocation::fill(uint8_t byte) { return bytes_ ? device_->fill(address_, byte, bytes_) : Status(); }

Status Allocation::check(const Stream &stream, const Range &range) const {
  if (device_ && &stream.interface() != device_.get())
    return user_error("the buffer lives on another device than the stream",
                      "Use a stream of the buffer's device");
  return check(range);
}

Status Allocation::write_async(const Stream &stream, const Range &range, const void *from) {
  NEREID_CHECK(check(stream, range));
  if (!range.count)
    return {};
  return device_->write_async(stream.state(), address_ + range.first * range.element, from,
                              range.count * range.element);
}

Status Allocation::read_async(const Stream &stream, const Range &range, void *to) const {
  NEREID_CHECK(check(stream, range));
  if (!range.count)
    return {};
  return device_->read_async(stream.state(), to, address_ + range.first * range.element,
                             range.count * range.element);
}

Status Allocation::fill_async(const Stream &stream, const Range &range, uint32_t pattern) {
  NEREID_CHECK(check(stream, range));
  if (!range.count)
    return {};
  return device_->fill_async(stream.state(), address_ + range.first * range.element,
                             {pattern, static_cast<unsigned>(range.element)}, range.count);
}

Status Allocation::copy_async(const Stream &stream, const Range &range, const Allocation &from,
                              size_t first) {
  NEREID_CHECK(check(stream, range));
  NEREID_CHECK(from.check({first, range.count, range.element}));
  if (!range.count)
    return {};
  if (from.device_->kind() != device_->kind())
    return user_error("a copy goes from a simulator to a GPU or from a GPU to a simulator",
                      "Copy over the host: to_host, then copy_from_host");
  return device_->copy_async(stream.state(), address_ + range.first * range.element, *from.device_,
                             from.address_ + first * range.element, range.count * range.element);
}

namespace {

Result<size_t> byte_count(size_t count, size_t element) {
  size_t bytes = 0;
  if (__builtin_mul_overflow(count, element, &bytes))
    return user_error("a buffer of " + std::to_string(count) + " elements of " + std::to_string(element) +
                          " bytes is larger than an address space of 2^64 bytes",
                      "Check the sizes of which the count is computed");
  return bytes;
}

} // namespace
} // namespace jit

namespace {

constexpr const char *capture_remedy =
    "Captured work is launches, asynchronous copies and fills; do this before or after";

/// Error (User) while what the stream is given is recorded.
Status check_not_captured(const Stream &stream, const char *what) {
  NEREID_TRY(const bool capturing, stream.is_capturing());
  if (!capturing)
    return {};
  return user_error(std::string(what) + ", which is being captured", capture_remedy);
}

} // namespace

Result<double> Event::milliseconds_until(const Event &later) const {
  if (device_ != later.device_)
    return user_error("the time between events of two devices was asked for",
                      "Record both on streams of one device");
  return state_->milliseconds_until(*later.state_);
}

Status Stream::synchronize() const {
  NEREID_CHECK(check_not_captured(*this, "a stream was to be waited for"));
  return device_->synchronize(state());
}

Result<bool> Stream::is_capturing() const { return device_->is_capturing(state()); }

bool Stream::keep(std::shared_ptr<const void> what) const { return state_ && state_->keep(std::move(what)); }

Status Stream::wait(const Event &event) const {
  if (event.device_ != device_)
    return user_error("a stream was to wait for an event of another device",
                      "Synchronize the other device's stream on the host");
  NEREID_CHECK(check_not_captured(*this, "an event was to be waited for on a stream"));
  return device_->wait(state(), *event.state_);
}

Result<jit::Allocation> Stream::allocate_memory(size_t count, size_t element) const {
  NEREID_TRY(const size_t bytes, jit::byte_count(count, element));
  NEREID_CHECK(check_not_captured(*this, "memory was asked of a stream"));
  NEREID_TRY(const uint64_t address, device_->allocate_in_order(state(), bytes));
  return jit::Allocation(device_, address, bytes, jit::Allocation::Source::Pool, state_);
}

Result<Event> Stream::record() const {
  NEREID_CHECK(check_not_captured(*this, "an event was to be recorded on a stream"));
  NEREID_TRY(std::shared_ptr<jit::EventState> event, device_->record(state()));
  return Event(device_, std::move(event));
}

Device Stream::device() const { return Device(device_); }

Device Device::best() {
  // Never destroyed, like the opened GPUs below: what other static objects hold of it may outlive this one.
  static const Device &device = *new Device([] {
    Result<Device> gpu = hip();
    return gpu ? *gpu : simulator();
  }());
  return device;
}

Device Device::simulator(const SimulatorOptions &options) { return Device(jit::make_sim_device(options)); }

Result<Device> Device::hip() {
  NEREID_TRY(const int index, jit::first_hip_device());
  return hip(index);
}

Result<Device> Device::hip(int index) {
  static std::mutex &mutex = *new std::mutex;
  static std::map<int, Device> &opened = *new std::map<int, Device>;
  std::lock_guard lock(mutex);
  if (auto found = opened.find(index); found != opened.end())
    return found->second;
  NEREID_TRY(std::shared_ptr<jit::DeviceInterface> gpu, jit::make_hip_device(index));
  return opened.emplace(index, Device(std::move(gpu))).first->second;
}

Result<Device> Device::named(std::string_view name) {
  if (name == "sim")
    return simulator();
  if (name == "hip")
    return hip();
  if (name == "auto")
    return best();
  return user_error("unknown device '" + std::string(name) + "'", "It is sim, hip or auto");
}

DeviceKind Device::kind() const { return interface_->kind(); }
std::string Device::name() const { return interface_->name(); }
std::string_view Device::kind_name() const { return kind() == DeviceKind::Hip ? "hip" : "sim"; }

Stream Device::stream() const { return Stream(interface_, nullptr); }

Result<Stream> Device::new_stream() const {
  NEREID_TRY(std::shared_ptr<jit::StreamState> state, interface_->new_stream());
  return Stream(interface_, std::move(state));
}

Status Device::check() const { return interface_->check(); }

Result<Stream> Device::external_stream(void *handle) const {
  NEREID_TRY(std::shared_ptr<jit::StreamState> state, interface_->external_stream(handle));
  return Stream(interface_, std::move(state));
}

Status Device::synchronize() const {
  if (interface_->captures() > 0)
    return user_error("a device was to be waited for, of which a stream is being captured", capture_remedy);
  return interface_->synchronize_all();
}

DeviceProperties Device::properties() const { return interface_->properties(); }
Result<PoolUse> Device::pool_use() const { return interface_->pool_use(); }
Status Device::trim_pool(size_t keep) const { return interface_->trim_pool(keep); }

Result<bool> Device::can_access(const Device &peer) const {
  if (peer == *this)
    return true;
  return peer.kind() == kind() ? interface_->can_access(*peer.interface_) : false;
}

Status Device::enable_access(const Device &peer) const {
  NEREID_TRY(const bool possible, can_access(peer));
  if (!possible)
    return environment_error("kernels on " + name() + " cannot access memory of " + peer.name(),
                             "Copy between the two devices");
  return peer == *this ? Status() : interface_->enable_access(*peer.interface_);
}

Result<jit::Allocation> Device::allocate_memory(size_t count, size_t element) const {
  NEREID_TRY(const size_t bytes, jit::byte_count(count, element));
  NEREID_TRY(const uint64_t address, interface_->allocate(bytes));
  return jit::Allocation(interface_, address, bytes);
}

Result<jit::Allocation> Device::external_memory(const void *memory, size_t count, size_t element) const {
  NEREID_TRY(const size_t bytes, jit::byte_count(count, element));
  const auto address = reinterpret_cast<uint64_t>(memory);
  if (!memory && bytes)
    return user_error("external memory of " + std::to_string(bytes) + " bytes is null",
                      "Give the address that the device has it at");
  if (bytes)
    NEREID_CHECK(interface_->check_memory(address, bytes));
  return jit::Allocation(interface_, address, bytes, jit::Allocation::Source::External);
}

Result<Buffer<std::byte>> Device::allocate(size_t bytes) const { return allocate<std::byte>(bytes); }

std::vector<DeviceAvailability> devices() {
  const Result<Device> gpu = Device::hip();
  return {{"hip", gpu.ok(), gpu ? gpu->name() : gpu.error().message},
          {"sim", true, Device::simulator().name()}};
}

} // namespace nereid
