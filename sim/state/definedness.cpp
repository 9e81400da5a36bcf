// Undefined bits of a block of memory, in pages that are mapped when they are touched.

#include "sim/state/definedness.h"

#include <cstdint>
#include <cstring>

#include <sys/mman.h>
#include <unistd.h>

#include "sim/state/filled_pages.h"
#include "sim/state/touched_pages.h"

namespace nereid::sim {

namespace {

constexpr int anonymous = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

std::byte *map_zeros(size_t size) {
  void *data = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, anonymous, -1, 0);
  return data == MAP_FAILED ? nullptr : static_cast<std::byte *>(data);
}

/// Below this size ones are written, above they are mapped.
constexpr size_t small = size_t{256} << 10;
/// From this size on zeros are mapped rather than written.
constexpr size_t large = size_t{1} << 20;

/// A mapping whose bits are all set or all clear; null when the host refuses.
std::byte *map_bits(size_t size, bool set) {
  std::byte *bits = map_zeros(size);
  if (!bits || !set)
    return bits;
  if (size <= small)
    std::memset(bits, 0xFF, size);
  else if (!map_filled(bits, size, std::byte{0xFF})) {
    ::munmap(bits, size);
    return nullptr;
  }
  return bits;
}

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
  const bool undefined = state_.load() == State::Undefined;
  std::byte *bits = map_bits(size_, undefined);
  began_undefined_ = undefined;
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
    std::byte *first =
        from + (((reinterpret_cast<uintptr_t>(from) + page - 1) & mask) - reinterpret_cast<uintptr_t>(from));
    std::byte *last = to - (reinterpret_cast<uintptr_t>(to) & ~mask);
    if (map_filled(first, static_cast<size_t>(last - first), std::byte{0})) {
      std::lock_guard lock(mutex_);
      cleared_.push_back({static_cast<size_t>(first - start), static_cast<size_t>(last - first)});
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
  if (std::byte *bits = bits_.load(); bits && !map_filled(bits, size_, std::byte{0}))
    std::memset(bits, 0, size_);
  cleared_.assign(1, {0, size_});
  state_ = State::Defined;
}

bool Definedness::copy(const Definedness &other, const TouchedPages &pages) {
  std::lock_guard lock(other.mutex_);
  const State state = other.state_.load();
  state_ = state;
  const std::byte *from = other.bits_.load();
  if (state != State::Mixed || !from)
    return true;
  std::byte *to = map_bits(size_, other.began_undefined_);
  if (!to)
    return false;
  bits_ = to;
  began_undefined_ = other.began_undefined_;
  cleared_ = other.cleared_;
  for (const Range &range : cleared_)
    if (!map_filled(to + range.offset, range.size, std::byte{0}))
      std::memset(to + range.offset, 0, range.size);
  pages.copy(from, to, size_);
  return true;
}

} // namespace nereid::sim
