// Keeps a cache directory within its size.
#include "jit/cache/cache_bound.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/output_file.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace nereid::jit {
namespace {

struct StoredFile {
  std::string path;
  uint64_t bytes;
  llvm::sys::TimePoint<> used;
};

} // namespace

Result<uint64_t> cache_bytes_from_environment() {
  const char *variable = std::getenv("NEREID_CACHE_BYTES");
  if (!variable || !*variable)
    return default_cache_bytes;
  llvm::StringRef text(variable);
  unsigned shift = 0;
  for (const auto &[suffix, suffix_shift] : {std::pair("K", 10U), {"M", 20U}, {"G", 30U}})
    if (text.consume_back(suffix)) {
      shift = suffix_shift;
      break;
    }
  uint64_t number = 0;
  if (text.getAsInteger(10, number) || number == 0 || number > UINT64_MAX >> shift)
    return user_error(
        fmt::format("NEREID_CACHE_BYTES is '{}'", variable),
        "It is a number of bytes, at least 1, or one of KiB, MiB or GiB with K, M or G after it; "
        "NEREID_CACHE_DIR=off is no cache");
  return number << shift;
}

void keep_within(const std::string &directory, uint64_t bytes) {
  std::vector<StoredFile> kernels;
  uint64_t total = 0;
  std::error_code failed;
  const auto now = std::chrono::system_clock::now();
  for (llvm::sys::fs::directory_iterator at(directory, failed, /*follow_symlinks=*/false), end;
       !failed && at != end; at.increment(failed)) {
    const llvm::ErrorOr<llvm::sys::fs::basic_file_status> status = at->status();
    if (!status || status->type() != llvm::sys::fs::file_type::regular_file)
      continue;
    const llvm::StringRef name = llvm::sys::path::filename(at->path());
    const llvm::sys::TimePoint<> changed = status->getLastModificationTime();
    if (name.starts_with(unfinished_prefix) && std::chrono::abs(now - changed) > std::chrono::hours(1))
      static_cast<void>(llvm::sys::fs::remove(at->path()));
    if (!name.ends_with(kernel_suffix))
      continue;
    // The clock went back since: nothing is known of the use, and what is used from now on goes before.
    const bool is_ahead = changed > now + std::chrono::minutes(1);
    kernels.push_back({at->path(), status->getSize(), is_ahead ? llvm::sys::TimePoint<>() : changed});
    total += status->getSize();
  }
  if (total <= bytes)
    return;
  std::sort(kernels.begin(), kernels.end(),
            [](const StoredFile &a, const StoredFile &b) { return a.used < b.used; });
  for (const StoredFile &kernel : kernels) {
    if (total <= bytes / 4 * 3)
      return;
    static_cast<void>(llvm::sys::fs::remove(kernel.path));
    total -= kernel.bytes;
  }
}

} // namespace nereid::jit
