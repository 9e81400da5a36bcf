#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "jit/cache/disk_cache.h"

namespace nereid::jit {

/// A kernel's file in a cache directory.
struct CacheEntry {
  std::string key; ///< its name without the suffix
  uint64_t bytes = 0;
  std::string kernel, config, compiler; ///< as the file says; empty when it was not read or is unusable
  std::string problem;                  ///< why it gives no kernel: "it is a FIFO"; empty: it does
  bool is_stale = false; ///< it is of another version's format; harmless, and of no use to this version
};

struct CacheContents {
  std::vector<CacheEntry> kernels; ///< by key
  uint64_t bytes = 0;              ///< of all regular files named as kernels
  uint64_t unfinished = 0;         ///< files of writers that are at work or ended too early

  uint64_t damaged() const; ///< have a problem and are not stale
  uint64_t stale() const;
};

/// What a cache directory holds, nothing when it does not exist. Reads every file to the end. Error
/// (Environment): the directory cannot be read or is not trusted.
Result<CacheContents> read_contents(const DiskCache &cache);

struct Removed {
  uint64_t files = 0;
  uint64_t bytes = 0;
};

/// Removes every kernel, and what writers left. Other processes may use the directory meanwhile; they compile
/// again. Error (Environment): the first that cannot be removed, as a directory; all others are.
Result<Removed> remove_kernels(const DiskCache &cache);
/// Removes the entries that have a problem, stale ones among them.
Result<Removed> remove_unusable(const DiskCache &cache, const CacheContents &contents);

} // namespace nereid::jit
