#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "dsl/ir/function.h"

namespace nereid {

/// Farther than this from every allocation an address comes from no wrong offset: it is no address at all.
inline constexpr uint64_t largest_miss = uint64_t{1} << 43;

/// For the message about an address that cannot be accessed: the pointer argument that it is reached from,
/// probably. That is the last one before it, as kernels add what is not negative to pointers; one after it
/// where only that is in reach of a 32-bit offset. "; argument 1 points 4000 bytes before that address",
/// "; argument 0 is null", or "" when all are far away. arguments: the bits of each, in order.
std::string argument_near(uint64_t address, const ir::Function &function,
                          std::span<const uint64_t> arguments);

} // namespace nereid
