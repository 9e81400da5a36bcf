#pragma once

#include <cstdint>
#include <string>

namespace nereid::jit {

/// Bytes of NEREID_CACHE_BYTES; 1 GiB when that is not set or no positive number.
uint64_t cache_bytes_from_environment();

/// Removes kernels of a cache directory, those not used for longest first, until three quarters of `bytes`
/// are left, if there are more than `bytes`; and what writers that ended too early left an hour ago.
/// Other processes may read, write and remove there meanwhile. Failures to remove are no errors.
void keep_within(const std::string &directory, uint64_t bytes);

} // namespace nereid::jit
