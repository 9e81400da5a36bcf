#include "sim/definedness.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

namespace nereid::sim {

namespace {

constexpr int anonymous = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

std::byte *map_zeros(size_t size) {
  void *data = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, anonymous, -1, 0);
  return data == MAP_FAILED ? nullptr : static_cast<std::byte *>(data);
}

/// Replaces whole pages of a mapping by zero pages; false when the host refuses.
bool zero_pages(std::byte *at, size_t size) {
  return ::mmap(at, size, PROT_READ | PROT_WRITE, anonymous | MAP_FIXED, -1, 0) != MAP_FAILED;
}

/// A file of ones, from which any number of pages can be mapped without touching them.
class Ones {
public:
  static constexpr size_t piece = size_t{16} << 20;

  /// Maps private pages of ones over [at, at + size); false when the host refuses.
  bool map_over(std::byte *at, size_t size) {
    if (!grow(std::min(size, piece)))
      return false;
    for (size_t done = 0; done < size; done += piece)
      if (::mmap(at + done, std::min(piece, size - done), PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, file_, 0) == MAP_FAILED)
        return false;
    return true;
  }

private:
  bool grow(size_t size) {
    std::lock_guard lock(mutex_);
    if (file_ < 0)
      file_ = ::memfd_create("undefined", MFD_CLOEXEC);
    size = (size + chunk - 1) / chunk * chunk;
    const std::vector<unsigned char> ones(size > filled_ && file_ >= 0 ? chunk : 0, 0xFF);
    while (filled_ < size && file_ >= 0) {
      if (::pwrite(file_, ones.data(), chunk, static_cast<off_t>(filled_)) != static_cast<ssize_t>(chunk))
        return false;
      filled_ += chunk;
    }
    return file_ >= 0;
  }

  static constexpr size_t chunk = size_t{1} << 20;
  std::mutex mutex_;
  int file_ = -1;
  size_t filled_ = 0;
};

/// Below this size ones are written, above they are mapped.
constexpr size_t small = size_t{256} << 10;
/// From this size on zeros are mapped rather than written.
constexpr size_t large = size_t{1} << 20;

} // namespace

Definedness::~Definedness() {
  if (std::byte *bits = bits_.load())
    ::munmap(bits, size_);
}

std::byte *Definedness::bits() {
  if (std::byte *found = bits_.load(std::memory_order_acquire)) [[likely]]
    return found;
  std::lock_guard lock(mutex_);
  if (std::byte *found = bits_.load())
    return found;
  static Ones ones;
  std::byte *bits = map_zeros(size_);
  const bool undefined = state_.load() == State::Undefined;
  if (bits && undefined && size_ <= small)
    std::memset(bits, 0xFF, size_);
  if (bits && undefined && size_ > small && !ones.map_over(bits, size_)) {
    ::munmap(bits, size_);
    bits = nullptr;
  }
  if (undefined)
    state_ = bits ? State::Mixed : State::Defined;
  bits_ = bits;
  return bits;
}

void Definedness::define(size_t offset, size_t bytes) {
  if (!anything_undefined() || bytes == 0)
    return;
  if (bytes == size_)
    return define_all();
  std::byte *start = bits();
  if (!start)
    return;
  std::byte *from = start + offset, *to = from + bytes;
  if (bytes >= large) {
    const uintptr_t page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE)), mask = ~(page - 1);
    std::byte *first = reinterpret_cast<std::byte *>((reinterpret_cast<uintptr_t>(from) + page - 1) & mask);
    std::byte *last = reinterpret_cast<std::byte *>(reinterpret_cast<uintptr_t>(to) & mask);
    if (zero_pages(first, static_cast<size_t>(last - first))) {
      std::memset(from, 0, static_cast<size_t>(first - from));
      std::memset(last, 0, static_cast<size_t>(to - last));
      return;
    }
  }
  std::memset(from, 0, bytes);
}

void Definedness::define_all() {
  if (!anything_undefined())
    return;
  std::lock_guard lock(mutex_);
  if (std::byte *bits = bits_.load(); bits && !zero_pages(bits, size_))
    std::memset(bits, 0, size_);
  state_ = State::Defined;
}

} // namespace nereid::sim
