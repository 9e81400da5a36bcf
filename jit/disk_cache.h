#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "jit/compiler.h"

namespace nereid::jit {

/// What a cached kernel's file says of it beside the code object.
struct CachedKernelInfo {
  std::string kernel;
  std::string config;
  std::string specialization;
};

/// Kernels on disk: one checksummed file each, named by its key; see docs/cache.md. Several processes may
/// share a directory. Private to the user.
class DiskCache {
public:
  /// An empty directory name: no cache.
  explicit DiskCache(std::string directory) : directory_(std::move(directory)) {}

  /// Of NEREID_CACHE_DIR ("off" or empty: none), else $XDG_CACHE_HOME/nereid, else ~/.cache/nereid; none when
  /// there is no home either.
  static DiskCache from_environment();

  const std::string &directory() const { return directory_; }
  bool enabled() const { return !directory_.empty(); }

  /// The kernel, if it is there and undamaged.
  std::optional<Binary> find(std::string_view key) const;
  /// Writes it under a temporary name and renames it.
  Status store(std::string_view key, const CachedKernelInfo &info, const Binary &binary) const;
  /// As store; a failure is a warning on stderr, once a process.
  void try_store(std::string_view key, const CachedKernelInfo &info, const Binary &binary) const;
  /// Where the kernel's file is or would be.
  std::string path(std::string_view key) const;

private:
  std::string directory_;
};

} // namespace nereid::jit
