// What stands in a cache directory, and its removal.
#include "jit/cache/cache_contents.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <set>
#include <unistd.h>

#include <fmt/format.h>

#include "base/output_file.h"
#include "jit/cache/entry_file.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

namespace nereid::jit {
namespace {

struct Listed {
  std::string path;
  bool is_kernel; ///< else what a writer left
  bool is_directory;
  uint64_t bytes; ///< of a regular file
};

Result<std::vector<Listed>> list(const DiskCache &cache) {
  namespace fs = llvm::sys::fs;
  std::vector<Listed> files;
  std::error_code failed;
  for (fs::directory_iterator at(cache.directory(), failed, /*follow_symlinks=*/false), end;
       !failed && at != end; at.increment(failed)) {
    const llvm::StringRef name = llvm::sys::path::filename(at->path());
    const bool is_kernel = name.ends_with(kernel_suffix);
    if (!is_kernel && !name.starts_with(unfinished_prefix))
      continue;
    const llvm::ErrorOr<fs::basic_file_status> status = at->status();
    if (!status) // removed meanwhile
      continue;
    const bool is_file = status->type() == fs::file_type::regular_file;
    files.push_back({at->path(), is_kernel, status->type() == fs::file_type::directory_file,
                     is_file ? status->getSize() : 0});
  }
  if (failed && failed != std::errc::no_such_file_or_directory)
    return environment_error(fmt::format("cannot read {}: {}", cache.directory(), failed.message()));
  std::sort(files.begin(), files.end(), [](const Listed &a, const Listed &b) { return a.path < b.path; });
  return files;
}

CacheEntry read_entry(const Listed &file) {
  CacheEntry entry;
  entry.key = llvm::sys::path::filename(file.path).drop_back(llvm::StringRef(kernel_suffix).size()).str();
  entry.bytes = file.bytes;
  const EntryFile content = read_entry_file(file.path);
  entry.problem = content.state == EntryState::Missing ? "it was removed" : content.problem;
  if (content.state != EntryState::Read)
    return entry;
  const Result<KernelFile> kernel = read_kernel_file(content.bytes->getBuffer(), entry.key);
  if (!kernel) {
    entry.problem = kernel.error().message;
    const llvm::StringRef bytes = content.bytes->getBuffer();
    entry.is_stale = is_of_another_version({bytes.data(), bytes.size()});
    return entry;
  }
  if (const Status code = check_code(*kernel); !code)
    entry.problem = code.error().message;
  entry.kernel = kernel->info.kernel;
  entry.config = kernel->info.config;
  entry.compiler = kernel->binary.compiler;
  return entry;
}

Status remove(const Listed &file, Removed &removed) {
  if (file.is_directory)
    return environment_error(fmt::format("{} is a directory", file.path), "Remove it by hand");
  // LLVM's remove() refuses FIFOs and devices.
  if (::unlink(file.path.c_str()) != 0 && errno != ENOENT)
    return environment_error(fmt::format("cannot remove {}: {}", file.path, std::strerror(errno)));
  ++removed.files;
  removed.bytes += file.bytes;
  return {};
}

/// Removes what it can. Error: the first of what it cannot.
Result<Removed> remove_all(const std::vector<Listed> &files) {
  Removed removed;
  Status first;
  for (const Listed &file : files)
    if (Status status = remove(file, removed); !status && first)
      first = std::move(status);
  if (!first)
    return first.error();
  return removed;
}

} // namespace

uint64_t CacheContents::damaged() const {
  return static_cast<uint64_t>(std::count_if(kernels.begin(), kernels.end(), [](const CacheEntry &entry) {
    return !entry.problem.empty() && !entry.is_stale;
  }));
}

uint64_t CacheContents::stale() const {
  return static_cast<uint64_t>(
      std::count_if(kernels.begin(), kernels.end(), [](const CacheEntry &entry) { return entry.is_stale; }));
}

Result<CacheContents> read_contents(const DiskCache &cache) {
  NEREID_CHECK(cache.check_trust());
  NEREID_TRY(const std::vector<Listed> files, list(cache));
  CacheContents contents;
  for (const Listed &file : files) {
    if (!file.is_kernel) {
      ++contents.unfinished;
      continue;
    }
    contents.kernels.push_back(read_entry(file));
    contents.bytes += file.bytes;
  }
  return contents;
}

Result<Removed> remove_kernels(const DiskCache &cache) {
  NEREID_TRY(const std::vector<Listed> files, list(cache));
  return remove_all(files);
}

Result<Removed> remove_unusable(const DiskCache &cache, const CacheContents &contents) {
  NEREID_TRY(const std::vector<Listed> files, list(cache));
  std::set<std::string> unusable;
  for (const CacheEntry &entry : contents.kernels)
    if (!entry.problem.empty())
      unusable.insert(cache.path(entry.key));
  std::vector<Listed> found;
  std::copy_if(files.begin(), files.end(), std::back_inserter(found),
               [&](const Listed &file) { return unusable.contains(file.path); });
  return remove_all(found);
}

} // namespace nereid::jit
