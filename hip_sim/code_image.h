#pragma once

#include <cstddef>
#include <span>

#include "base/result.h"

namespace nereid::hip_sim {

/// The gfx950 code object in what hipModuleLoadData is given: an ELF file, or a bundle of several as hipcc
/// --genco writes it. `limit` is the size when it is known. Errors (User): neither, or a bundle without
/// gfx950.
Result<std::span<const std::byte>> code_of_image(const std::byte *image, size_t limit);

} // namespace nereid::hip_sim
