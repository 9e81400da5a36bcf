#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"

namespace nereid::jit {

/// The gfx950 code object in a clang offload bundle, compressed or not, as hipcc --genco writes it; a copy of
/// anything else. Errors (User): a damaged bundle, one without gfx950 (what it has is listed), an LLVM
/// offload binary.
Result<std::vector<uint8_t>> unbundled(std::span<const uint8_t> bytes);

} // namespace nereid::jit
