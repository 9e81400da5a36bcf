#pragma once

#include <fmt/format.h>

#include "jit/cache/disk_cache.h"

namespace nereid::test {

/// A binary for the caches, with `bytes` bytes of no code.
inline jit::Binary sample_binary(int bytes = 1000) {
  jit::Binary binary;
  for (int i = 0; i < bytes; ++i)
    binary.code_object.push_back(static_cast<uint8_t>(i * 7));
  binary.resources = {17, 4, 20, 4096, 0, 2, 8};
  binary.compiler = "a compiler";
  binary.waits = jit::Waits::Everything;
  return binary;
}

/// The key of a kernel by number.
inline std::string key_of(int kernel) { return fmt::format("{:064x}", kernel); }

} // namespace nereid::test
