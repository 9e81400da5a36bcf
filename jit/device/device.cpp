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

Status Allocation::in_range(size_t offset, size_t bytes) const {
  if (offset <= bytes_ && bytes <= bytes_ - offset)
    return {};
  return user_error("a copy of " + std::to_string(bytes) + " bytes at byte " + std::to_string(offset) +
                        " exceeds a buffer of " + std::to_string(bytes_) + " bytes",
                    "allocate a larger buffer or copy less");
}

Status Allocation::write(size_t offset, const void *from, size_t bytes) {
  if (Status fits = in_range(offset, bytes); !fits || !bytes)
    return fits;
  return device_->write(address_ + offset, from, bytes);
}

Status Allocation::read(size_t offset, void *to, size_t bytes) const {
  if (Status fits = in_range(offset, bytes); !fits || !bytes)
    return fits;
  return device_->read(to, address_ + offset, bytes);
}

Status Allocation::fill(size_t offset, uint8_t byte, size_t bytes) {
  if (Status fits = in_range(offset, bytes); !fits || !bytes)
    return fits;
  return device_->fill(address_ + offset, byte, bytes);
}

} // namespace jit

Result<double> Event::milliseconds_until(const Event &later) const {
  return state_->milliseconds_until(*later.state_);
}

Status Stream::synchronize() const { return device_->synchronize(state()); }

Result<Event> Stream::record() const {
  Result<std::shared_ptr<jit::EventState>> event = device_->record(state());
  if (!event)
    return event.error();
  return Event(std::move(*event));
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
  Result<std::shared_ptr<jit::DeviceInterface>> made = jit::make_hip_device(index);
  if (!made)
    return made.error();
  return opened.emplace(index, Device(std::move(*made))).first->second;
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
  Result<std::shared_ptr<jit::StreamState>> made = interface_->new_stream();
  if (!made)
    return made.error();
  return Stream(interface_, std::move(*made));
}

Status Device::synchronize() const { return interface_->synchronize_all(); }

Result<jit::Allocation> Device::allocate_memory(size_t bytes) const {
  Result<uint64_t> address = interface_->allocate(bytes);
  if (!address)
    return address.error();
  return jit::Allocation(interface_, *address, bytes);
}

Result<Buffer<std::byte>> Device::allocate(size_t bytes) const {
  Result<jit::Allocation> memory = allocate_memory(bytes);
  if (!memory)
    return memory.error();
  return Buffer<std::byte>(std::move(*memory));
}

std::vector<DeviceAvailability> devices() {
  const Result<Device> gpu = Device::hip();
  return {{"hip", gpu.ok(), gpu ? gpu->name() : gpu.error().message},
          {"sim", true, Device::simulator().name()}};
}

} // namespace nereid
