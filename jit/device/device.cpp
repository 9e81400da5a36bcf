// Devices, their streams and their memory, over what a kind of device implements.
#include "jit/device/device.h"

#include <map>
#include <mutex>

#include "jit/device/device_interface.h"

namespace nereid {

namespace jit {

Allocation::~Allocation() {
  if (device_)
    device_->free(address_);
}

Status Allocation::check(const Range &range) const {
  const size_t count = bytes_ / range.element;
  if (range.first <= count && range.count <= count - range.first)
    return {};
  return user_error("a copy of " + std::to_string(range.count) + " elements from element " +
                        std::to_string(range.first) + " on exceeds a buffer of " + std::to_string(count) +
                        " elements of " + std::to_string(range.element) + " bytes",
                    "allocate a larger buffer or copy less");
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

} // namespace jit

Result<double> Event::milliseconds_until(const Event &later) const {
  return state_->milliseconds_until(*later.state_);
}

Status Stream::synchronize() const { return device_->synchronize(state()); }

Result<Event> Stream::record() const {
  NEREID_TRY(std::shared_ptr<jit::EventState> event, device_->record(state()));
  return Event(std::move(event));
}

Device Stream::device() const { return Device(device_); }

Device Device::best() {
  static const Device device = [] {
    Result<Device> gpu = hip();
    return gpu ? *gpu : simulator();
  }();
  return device;
}

Device Device::simulator(const SimulatorOptions &options) { return Device(jit::make_sim_device(options)); }

Result<Device> Device::hip(int index) {
  static std::mutex mutex;
  static std::map<int, Device> opened;
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

Status Device::synchronize() const { return interface_->synchronize_all(); }

Result<jit::Allocation> Device::allocate_memory(size_t count, size_t element) const {
  size_t bytes = 0;
  if (__builtin_mul_overflow(count, element, &bytes))
    return user_error("a buffer of " + std::to_string(count) + " elements of " + std::to_string(element) +
                          " bytes is larger than an address space of 2^64 bytes",
                      "Check the sizes of which the count is computed");
  NEREID_TRY(const uint64_t address, interface_->allocate(bytes));
  return jit::Allocation(interface_, address, bytes);
}

Result<Buffer<std::byte>> Device::allocate(size_t bytes) const { return allocate<std::byte>(bytes); }

std::vector<DeviceAvailability> devices() {
  const Result<Device> gpu = Device::hip();
  return {{"hip", gpu.ok(), gpu ? gpu->name() : gpu.error().message},
          {"sim", true, Device::simulator().name()}};
}

} // namespace nereid
