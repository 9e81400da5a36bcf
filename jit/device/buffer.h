#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/result.h"

namespace nereid {

class Stream;

namespace jit {

class DeviceInterface;
class StreamState;

/// A piece of device memory, freed with its owner unless somebody else owns it.
class Allocation {
public:
  enum class Source : uint8_t { Device, Pool, External };

  Allocation() = default;
  /// stream: of the pool's, in whose order the memory is freed.
  Allocation(std::shared_ptr<DeviceInterface> device, uint64_t address, size_t bytes,
             Source source = Source::Device, std::shared_ptr<StreamState> stream = nullptr)
      : device_(std::move(device)), stream_(std::move(stream)), address_(address), bytes_(bytes),
        source_(source) {}
  Allocation(Allocation &&other) noexcept { swap(other); }
  Allocation &operator=(Allocation &&other) noexcept {
    swap(other);
    return *this;
  }
  ~Allocation();

  uint64_t address() const { return address_; }
  size_t bytes() const { return bytes_; }
  const DeviceInterface *device() const & { return device_.get(); }
  const DeviceInterface *device() const && = delete;

  /// Elements of a buffer.
  struct Range {
    size_t first;
    size_t count;
    size_t element; ///< bytes of one
  };
  Status write(const Range &range, const void *from);
  Status read(const Range &range, void *to) const;
  /// Sets all bytes.
  Status fill(uint8_t byte);
  Status write_async(const Stream &stream, const Range &range, const void *from);
  Status read_async(const Stream &stream, const Range &range, void *to) const;
  /// pattern: of range.element bytes, 1, 2 or 4.
  Status fill_async(const Stream &stream, const Range &range, uint32_t pattern);
  Status copy_async(const Stream &stream, const Range &range, const Allocation &from, size_t first);

private:
  void swap(Allocation &other) noexcept {
    std::swap(device_, other.device_);
    std::swap(stream_, other.stream_);
    std::swap(address_, other.address_);
    std::swap(bytes_, other.bytes_);
    std::swap(source_, other.source_);
  }
  Status check(const Range &range) const;
  Status check(const Stream &stream, const Range &range) const;

  std::shared_ptr<DeviceInterface> device_;
  std::shared_ptr<StreamState> stream_;
  uint64_t address_ = 0;
  size_t bytes_ = 0;
  Source source_ = Source::Device;
};

/// What an address becomes that is moved out of the address space; launches refuse it.
inline constexpr uint64_t no_address = UINT64_MAX;

/// `elements` of `bytes` bytes after an address, or before it where they are negative.
template <class Integer> constexpr uint64_t moved_address(uint64_t address, Integer elements, size_t bytes) {
  int64_t distance = 0;
  uint64_t result = 0;
  if (__builtin_mul_overflow(elements, bytes, &distance) ||
      __builtin_add_overflow(address, distance, &result))
    return no_address;
  return result;
}

} // namespace jit

/// An address of device memory that holds elements of type T; what a kernel's Ptr<T> is given. Nobody owns
/// it.
template <class T> struct DevicePointer {
  uint64_t address = 0;

  DevicePointer operator+(int64_t elements) const {
    return {jit::moved_address(address, elements, sizeof(T))};
  }
};

/// The address of memory that somebody else owns, as a kernel's Ptr<T> is given it.
template <class T> DevicePointer<T> device_pointer(const void *memory) {
  return {reinterpret_cast<uint64_t>(memory)};
}

/// Device memory for `size()` elements, freed with the buffer. Move-only. Copies to and from the host wait
/// for what is queued on the device's default stream.
template <class T> class Buffer {
  static_assert(std::is_trivially_copyable_v<T>, "a buffer holds plain data");

public:
  Buffer() = default;
  explicit Buffer(jit::Allocation memory) : memory_(std::move(memory)) {}

  size_t size() const { return memory_.bytes() / sizeof(T); }
  size_t bytes() const { return memory_.bytes(); }
  uint64_t address() const { return memory_.address(); }
  const jit::DeviceInterface *device() const & { return memory_.device(); }
  const jit::DeviceInterface *device() const && = delete;
  /// The address of element `index`; the buffer has to live as long as it is used.
  DevicePointer<T> at(size_t index = 0) const & { return {jit::moved_address(address(), index, sizeof(T))}; }
  DevicePointer<T> at(size_t index = 0) const && = delete;

  /// Copies data over elements first, first + 1, ...; more than fits is a user error.
  Status copy_from_host(std::span<const T> data, size_t first = 0) {
    return memory_.write({first, data.size(), sizeof(T)}, data.data());
  }
  Status copy_to_host(std::span<T> data, size_t first = 0) const {
    return memory_.read({first, data.size(), sizeof(T)}, data.data());
  }
  /// All elements, as a host vector.
  Result<std::vector<T>> to_host() const {
    std::vector<T> data(size());
    NEREID_CHECK(copy_to_host(data));
    return data;
  }
  /// Sets every element.
  Status fill(const T &value) {
    unsigned char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    if (std::all_of(bytes, bytes + sizeof(T), [&](unsigned char b) { return b == bytes[0]; }))
      return memory_.fill(bytes[0]);
    return copy_from_host(std::vector<T>(size(), value));
  }

  /// The same copies in the order of a stream of the buffer's device; they may return before anything is
  /// copied. The host's data have to stay, and be left alone, until the stream is done with them, and as long
  /// as a graph that recorded the copy is launched.
  Status copy_from_host_async(const Stream &stream, std::span<const T> data, size_t first = 0) {
    return memory_.write_async(stream, {first, data.size(), sizeof(T)}, data.data());
  }
  Status copy_to_host_async(const Stream &stream, std::span<T> data, size_t first = 0) const {
    return memory_.read_async(stream, {first, data.size(), sizeof(T)}, data.data());
  }
  /// Copies elements from_first, from_first + 1, ... of another buffer, which may be of another device of the
  /// same kind, over elements first, first + 1, ...
  Status copy_from_async(const Stream &stream, const Buffer<T> &from, size_t count, size_t first = 0,
                         size_t from_first = 0) {
    return memory_.copy_async(stream, {first, count, sizeof(T)}, from.memory_, from_first);
  }
  /// Sets every element in the order of a stream, or `count` from element `first` on.
  Status fill_async(const Stream &stream, const T &value) { return fill_async(stream, value, 0, size()); }
  Status fill_async(const Stream &stream, const T &value, size_t first, size_t count) {
    static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4,
                  "devices fill with values of 1, 2 or 4 bytes");
    uint32_t pattern = 0;
    std::memcpy(&pattern, &value, sizeof(T));
    return memory_.fill_async(stream, {first, count, sizeof(T)}, pattern);
  }

private:
  jit::Allocation memory_;
};

/// Before a launch: an error naming the argument when the buffer is null or has fewer than `needed` elements.
template <class T>
Status require_elements(std::string_view argument, const Buffer<T> &buffer, size_t needed) {
  if (buffer.size() >= needed && (buffer.address() || !needed))
    return {};
  if (!buffer.address())
    return user_error("buffer '" + std::string(argument) + "' is null", "Allocate it first");
  return user_error("buffer '" + std::string(argument) + "' holds " + std::to_string(buffer.size()) +
                        " elements where " + std::to_string(needed) + " are needed",
                    "Allocate a larger buffer");
}

} // namespace nereid
