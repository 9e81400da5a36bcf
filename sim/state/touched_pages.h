#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>
#include <vector>

namespace nereid::sim {

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

  /// Makes a mapping that was created in the same way hold what `from` holds; both start at a page.
  void copy(const std::byte *from, std::byte *to, size_t size) const {
    const size_t pages = (size + page_size_ - 1) / page_size_;
    std::vector<uint64_t> entries(std::min<size_t>(pages, 1 << 16));
    for (size_t first = 0; first < pages; first += entries.size()) {
      const size_t count = std::min(entries.size(), pages - first);
      const bool known = read(from + first * page_size_, entries.data(), count);
      for (size_t k = 0; k < count; ++k) {
        if (known && !(entries[k] & touched))
          continue;
        const size_t at = (first + k) * page_size_, bytes = std::min(page_size_, size - at);
        if (std::memcmp(to + at, from + at, bytes) != 0) // reading may have touched a page
          std::memcpy(to + at, from + at, bytes);
      }
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

} // namespace nereid::sim
