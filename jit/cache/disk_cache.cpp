// Files of cached kernels: how they are written and found.
#include "jit/cache/disk_cache.h"

#include <atomic>
#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>

#include <fmt/format.h>

#include "base/log.h"
#include "base/output_file.h"
#include "jit/cache/entry_file.h"
#include "jit/cache/trust.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

namespace nereid::jit {
namespace {

constexpr const char *directory_remedy = "Set NEREID_CACHE_DIR to a directory that can be written, or to off";

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

/// Warns the first time that `said` is given.
void warn_once(std::atomic<bool> &said, const std::string &text) {
  if (!said.exchange(true))
    log(LogLevel::Warning, text);
}

constexpr const char *distrust_remedy =
    "Give it to this user and take the right to write from others (chmod go-w), or set NEREID_CACHE_DIR to "
    "another directory";

} // namespace

Result<DiskCache> DiskCache::from_environment() {
  NEREID_TRY(const uint64_t bytes, cache_bytes_from_environment());
  return DiskCache(directory_from_environment(), bytes);
}

std::string DiskCache::path(std::string_view key) const {
  return fmt::format("{}/{}{}", directory_, key, kernel_suffix);
}

Status DiskCache::check_trust() const {
  struct stat status{};
  if (!enabled() || stat(directory_.c_str(), &status) != 0)
    return {};
  if (const std::optional<std::string> why = distrust(status))
    return environment_error(fmt::format("the directory of kernels {} is not used: {}", directory_, *why),
                             distrust_remedy);
  return {};
}

bool DiskCache::is_trusted() const {
  static std::atomic<bool> said = false;
  const Status trusted = check_trust();
  if (!trusted)
    warn_once(said, trusted.error().text());
  return trusted.ok();
}

std::optional<Binary> DiskCache::find(std::string_view key) const {
  static std::atomic<bool> said = false;
  if (!enabled() || !is_trusted())
    return std::nullopt;
  const std::string file = path(key);
  const EntryFile entry = read_entry_file(file);
  if (entry.state == EntryState::Distrusted)
    warn_once(said, fmt::format("the kernel {} is not used: {}. {}", file, entry.problem, distrust_remedy));
  if (entry.state != EntryState::Read)
    return std::nullopt;
  Result<KernelFile> kernel = read_kernel_file(entry.bytes->getBuffer(), key);
  if (!kernel)
    return std::nullopt;
  utimensat(AT_FDCWD, file.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
  return std::move(kernel->binary);
}

Status DiskCache::store(std::string_view key, const CachedKernelInfo &info, const Binary &binary) const {
  return enabled() ? store_file(key, kernel_file(key, info, binary)) : Status();
}

Status DiskCache::store_file(std::string_view key, const std::string &content) const {
  NEREID_CHECK(check_trust());
  // Who removes the directory meanwhile does so between any two steps.
  constexpr int attempts = 3;
  for (int attempt = 1;; ++attempt) {
    if (std::error_code failed =
            llvm::sys::fs::create_directories(directory_, /*IgnoreExisting=*/true, llvm::sys::fs::owner_all))
      return environment_error("cannot create " + directory_ + ": " + failed.message(), directory_remedy);
    Status written = write_file(path(key), content, {.is_private = true});
    if (written)
      break;
    if (attempt == attempts || llvm::sys::fs::exists(directory_)) {
      Error error = std::move(written).error();
      error.remedy = directory_remedy;
      return error;
    }
  }
  bound_size(content.size());
  return {};
}

void DiskCache::bound_size(uint64_t written) const {
  static std::atomic<uint64_t> since_look = 0;
  static std::atomic<bool> looked = false, said = false;
  constexpr uint64_t few_kernels = 8;
  if (written > bytes_ / few_kernels)
    warn_once(said, fmt::format("{} may hold {} bytes, and a kernel takes {}: most are compiled again. Set "
                                "NEREID_CACHE_BYTES to more",
                                directory_, bytes_, written));
  if (since_look.fetch_add(written) + written <= bytes_ / 16 && looked.exchange(true))
    return;
  looked = true;
  since_look = 0;
  keep_within(directory_, bytes_);
}

void DiskCache::try_store(std::string_view key, const CachedKernelInfo &info, const Binary &binary) const {
  static std::atomic<bool> said = false;
  if (!is_trusted())
    return;
  if (const Status stored = store(key, info, binary); !stored)
    warn_once(said, "kernels are not cached: " + stored.error().text());
}

} // namespace nereid::jit
