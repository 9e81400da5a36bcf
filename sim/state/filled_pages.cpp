// Maps pages full of one byte from a file of that byte, without touching them.

#include "sim/state/filled_pages.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

namespace nereid::sim {

namespace {

/// A file of one value, from which any number of pages can be mapped without touching them.
class FilledFile {
public:
  bool map_over(std::byte *at, size_t size, std::byte value) {
    if (!grow(std::min(size, piece), value))
      return false;
    for (size_t done = 0; done < size; done += piece)
      if (::mmap(at + done, std::min(piece, size - done), PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, file_, 0) == MAP_FAILED)
        return false;
    return true;
  }

private:
  static constexpr size_t piece = size_t{16} << 20, chunk = size_t{1} << 20;

  bool grow(size_t size, std::byte value) {
    std::lock_guard lock(mutex_);
    if (file_ < 0)
      file_ = ::memfd_create("filled", MFD_CLOEXEC);
    size = (size + chunk - 1) / chunk * chunk;
    const std::vector<std::byte> content(size > filled_ && file_ >= 0 ? chunk : 0, value);
    while (filled_ < size && file_ >= 0) {
      if (::pwrite(file_, content.data(), chunk, static_cast<off_t>(filled_)) != static_cast<ssize_t>(chunk))
        return false;
      filled_ += chunk;
    }
    return file_ >= 0;
  }

  std::mutex mutex_;
  int file_ = -1;
  size_t filled_ = 0;
};

} // namespace

bool map_filled(std::byte *at, size_t size, std::byte value) {
  if (value == std::byte{0})
    return ::mmap(at, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
                  -1, 0) != MAP_FAILED;
  static std::array<FilledFile, 256> files;
  return files[static_cast<size_t>(value)].map_over(at, size, value);
}

} // namespace nereid::sim
