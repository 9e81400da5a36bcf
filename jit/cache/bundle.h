#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "jit/cache/disk_cache.h"

namespace nereid::jit {

/// Kernels' files (kernel_file.h) by key.
using KernelFiles = std::map<std::string, std::string, std::less<>>;

/// Many kernels as one file, which says nothing of where it was made (docs/cache.md).
std::string bundle(const KernelFiles &kernels);
/// The bytes by which a bundle is told from other files.
inline constexpr size_t bundle_start_bytes = 9;
/// Error (User): what starts with these bytes is no bundle.
Status check_is_bundle(std::string_view start);
/// The inverse. Error (User): the bytes are no bundle, or they or one of its kernels are damaged.
Result<KernelFiles> read_bundle(std::string_view bytes);

/// The undamaged kernels of a cache. Error (Environment): as read_contents.
Result<KernelFiles> kernel_files(const DiskCache &cache);

struct Imported {
  uint64_t stored = 0;
  uint64_t present = 0; ///< that the cache had already
};

/// Stores the kernels of a bundle. Errors: together they exceed the bound of the cache (User); a file cannot
/// be written, the directory is not trusted (Environment).
Result<Imported> import_kernels(const DiskCache &cache, const KernelFiles &kernels);

} // namespace nereid::jit
