#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "jit/cache/cache_bound.h"
#include "jit/cache/kernel_file.h"
#include "jit/compile/compiler.h"

namespace nereid::jit {

/// Kernels on disk: one checksummed file each, named by its key; see docs/cache.md. Several processes may
/// share a directory. Private to the user.
class DiskCache {
public:
  /// An empty directory name: no cache. `bytes`: the kernels' together, from which on those not used for
  /// longest are removed.
  explicit DiskCache(std::string directory, uint64_t bytes = default_cache_bytes)
      : directory_(std::move(directory)), bytes_(bytes) {}

  /// Of NEREID_CACHE_DIR ("off" or empty: none), else $XDG_CACHE_HOME/nereid, else ~/.cache/nereid; none when
  /// there is no home either. Its size by NEREID_CACHE_BYTES, whose errors are the user's.
  static Result<DiskCache> from_environment();

  const std::string &directory() const & { return directory_; }
  std::string directory() && { return std::move(directory_); }
  bool enabled() const { return !directory_.empty(); }

  /// The bound of its size.
  uint64_t bytes() const { return bytes_; }

  /// Why neither a kernel is taken from the directory nor one stored there: another user's, or everybody may
  /// write to it (Environment). A directory that does not exist yet is fine.
  Status check_trust() const;

  /// The kernel, if it is there and undamaged. It counts as used now. A directory or file that is not trusted
  /// is a warning on stderr, once a process.
  std::optional<Binary> find(std::string_view key) const;
  /// Writes it under a temporary name and renames it. Keeps the directory within its size: a process looks at
  /// its first file, and after each sixteenth of the size that it wrote. A size that is smaller than a few
  /// kernels is a warning on stderr, once a process.
  Status store(std::string_view key, const CachedKernelInfo &info, const Binary &binary) const;
  /// The same for the bytes of a kernel's file.
  Status store_file(std::string_view key, const std::string &content) const;
  /// As store; a failure is a warning on stderr, once a process.
  void try_store(std::string_view key, const CachedKernelInfo &info, const Binary &binary) const;
  /// Where the kernel's file is or would be.
  std::string path(std::string_view key) const;

private:
  bool is_trusted() const;
  void bound_size(uint64_t written) const;

  std::string directory_;
  uint64_t bytes_;
};

} // namespace nereid::jit
