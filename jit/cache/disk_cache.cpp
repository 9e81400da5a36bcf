// Files of cached kernels: how they are written and found.
#include "jit/cache/disk_cache.h"

#include <atomic>
#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "jit/cache/kernel_file.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

namespace nereid::jit {
namespace {

Error cannot(const std::string &what, const std::string &path) {
  return environment_error(fmt::format("cannot {} {}: {}", what, path, llvm::sys::StrError()),
                           "Set NEREID_CACHE_DIR to a directory that can be written, or to off");
}

std::string directory_from_environment() {
  auto variable = [](const char *name) {
    const char *value = std::getenv(name);
    return std::string(value ? value : "");
  };
  if (std::getenv("NEREID_CACHE_DIR")) {
    std::string directory = variable("NEREID_CACHE_DIR");
    return directory == "off" ? "" : directory;
  }
  if (std::string xdg = variable("XDG_CACHE_HOME"); !xdg.empty())
    return xdg + "/nereid";
  if (std::string home = variable("HOME"); !home.empty())
    return home + "/.cache/nereid";
  return "";
}

} // namespace

Result<DiskCache> DiskCache::from_environment() {
  NEREID_TRY(const uint64_t bytes, cache_bytes_from_environment());
  return DiskCache(directory_from_environment(), bytes);
}

std::string DiskCache::path(std::string_view key) const {
  return fmt::format("{}/{}.kernel", directory_, key);
}

std::optional<Binary> DiskCache::find(std::string_view key) const {
  if (!enabled())
    return std::nullopt;
  auto file = llvm::MemoryBuffer::getFile(path(key), /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file)
    return std::nullopt;
  std::optional<Binary> binary = read_kernel_file((*file)->getBuffer(), key);
  if (binary)
    utimensat(AT_FDCWD, path(key).c_str(), nullptr, 0);
  return binary;
}

Status DiskCache::store(std::string_view key, const CachedKernelInfo &info, const Binary &binary) const {
  if (!enabled())
    return {};
  if (std::error_code failed =
          llvm::sys::fs::create_directories(directory_, /*IgnoreExisting=*/true, llvm::sys::fs::owner_all))
    return environment_error("cannot create " + directory_ + ": " + failed.message(),
                             "Set NEREID_CACHE_DIR to a directory that can be written, or to off");
  const std::string content = kernel_file(key, info, binary);
  std::string temporary = directory_ + "/new-XXXXXX";
  const int fd = mkstemp(temporary.data());
  if (fd < 0)
    return cannot("create a file in", directory_);
  bool good;
  {
    llvm::raw_fd_ostream stream(fd, /*shouldClose=*/true);
    stream << content;
    stream.close();
    good = !stream.has_error();
    stream.clear_error();
  }
  if (!good || rename(temporary.c_str(), path(key).c_str())) {
    Error error = cannot("write", path(key));
    unlink(temporary.c_str());
    return error;
  }
  bound_size(content.size());
  return {};
}

void DiskCache::bound_size(uint64_t written) const {
  static std::atomic<uint64_t> since_look = 0;
  static std::atomic<bool> looked = false;
  if (since_look.fetch_add(written) + written <= bytes_ / 16 && looked.exchange(true))
    return;
  looked = true;
  since_look = 0;
  keep_within(directory_, bytes_);
}

void DiskCache::try_store(std::string_view key, const CachedKernelInfo &info, const Binary &binary) const {
  static std::atomic<bool> warned = false;
  if (Status stored = store(key, info, binary); !stored && !warned.exchange(true))
    fmt::print(stderr, "nereid: warning: kernels are not cached: {}\n", stored.error().text());
}

} // namespace nereid::jit
