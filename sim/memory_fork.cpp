// Copies of a device's memory that cost what was touched of it.

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include "sim/memory.h"

namespace nereid::sim {

namespace {

/// Which pages of this process hold anything: the kernel's page map, or "all" where it cannot be read.
class TouchedPages {
public:
  TouchedPages() : file_(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)) {}
  ~TouchedPages() {
    if (file_ >= 0)
      ::close(file_);
  }
  TouchedPages(const TouchedPages &) = delete;
  TouchedPages &operator=(const TouchedPages &) = delete;

  size_t page_size() const { return page_size_; }

  /// Calls `function(offset of the page in the block)` for each touched page of [data, data + size).
  template <class F> void each(const std::byte *data, size_t size, F function) const {
    const size_t pages = (size + page_size_ - 1) / page_size_;
    std::vector<uint64_t> entries(std::min<size_t>(pages, 1 << 16));
    for (size_t first = 0; first < pages; first += entries.size()) {
      const size_t count = std::min(entries.size(), pages - first);
      const bool known = read(data + first * page_size_, entries.data(), count);
      for (size_t k = 0; k < count; ++k)
        if (!known || entries[k] & touched)
          function((first + k) * page_size_);
    }
  }

private:
  /// Present in memory, or swapped out.
  static constexpr uint64_t touched = uint64_t{3} << 62;

  bool read(const std::byte *page, uint64_t *entries, size_t count) const {
    const auto at = static_cast<off_t>(reinterpret_cast<uint64_t>(page) / page_size_ * sizeof(uint64_t));
    const auto bytes = static_cast<ssize_t>(count * sizeof(uint64_t));
    return file_ >= 0 && ::pread(file_, entries, static_cast<size_t>(bytes), at) == bytes;
  }

  int file_;
  size_t page_size_ = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
};

bool is_zero(const std::byte *bytes, size_t count) {
  return std::all_of(bytes, bytes + count, [](std::byte byte) { return byte == std::byte{0}; });
}

} // namespace

Result<std::unique_ptr<Memory>> Memory::fork() const {
  std::unique_lock lock(mutex_);
  auto copy = std::make_unique<Memory>(capacity_);
  auto blocks = std::make_shared<Blocks>();
  const TouchedPages pages;
  for (const auto &[address, block] : *blocks_) {
    std::shared_ptr<Block> twin = Block::map(address, block->size());
    if (!twin)
      return environment_error(fmt::format(
          "the host refused to map {} bytes for a copy of the simulator's memory", block->size()));
    const std::byte *from = block->data();
    std::byte *to = twin->data();
    const size_t size = block->size();
    pages.each(from, size, [&](size_t offset) {
      const size_t bytes = std::min(pages.page_size(), size - offset);
      if (!is_zero(from + offset, bytes)) // a new page is zero, and reading may have touched a page
        std::memcpy(to + offset, from + offset, bytes);
    });
    twin->definedness().define_all();
    blocks->emplace(address, std::move(twin));
  }
  copy->blocks_ = std::move(blocks);
  copy->used_ = used_;
  copy->next_ = next_;
  return copy;
}

} // namespace nereid::sim
