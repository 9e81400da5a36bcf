#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"
#include "jit/compile/resources.h"

namespace nereid::jit {

/// What the metadata of a code object says of its only kernel. The waves of a workgroup, which the occupancy
/// depends on, are those of its largest one.
Result<Resources> read_resources(std::span<const uint8_t> code_object);

} // namespace nereid::jit
