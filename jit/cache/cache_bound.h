#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace nereid::jit {

/// Files of a cache directory are KEY.kernel, and unfinished ones (base/output_file.h) while a writer is at
/// work.
inline constexpr const char *kernel_suffix = ".kernel";

inline constexpr uint64_t default_cache_bytes = uint64_t{1} << 30;

/// NEREID_CACHE_BYTES: a number of bytes, or with K, M or G after it of KiB, MiB or GiB, at least 1 (anything
/// else is the user's error); default_cache_bytes when that is not set or empty.
Result<uint64_t> cache_bytes_from_environment();

/// Removes kernels of a cache directory, those not used for longest first, until three quarters of `bytes`
/// are left, if there are more than `bytes`; and what writers that ended too early left an hour ago. A file
/// that was used in the future, as when the clock went back, goes first. Other processes may read, write and
/// remove there meanwhile. Failures to remove are no errors.
void keep_within(const std::string &directory, uint64_t bytes);

} // namespace nereid::jit
