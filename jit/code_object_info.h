#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>

#include "base/result.h"
#include "jit/resources.h"

namespace nereid::jit {

/// What the metadata of a code object says of its only kernel. waves: of a workgroup, for the occupancy.
Result<Resources> read_resources(std::span<const uint8_t> code_object, unsigned waves);

/// Waves of a workgroup by the metadata (.max_flat_workgroup_size over 64).
Result<unsigned> read_waves(std::span<const uint8_t> code_object);

/// The line table of a code object: from the address where it starts, inside .text, to the line. Line 0 ends
/// a stretch that has none.
Result<std::map<uint64_t, unsigned>> read_lines(std::span<const uint8_t> code_object);

/// The disassembly of the kernels, each instruction with its address and, behind a semicolon, with what
/// `describe` says of its line (nothing when empty).
Result<std::string> disassemble(std::span<const uint8_t> code_object,
                                const std::function<std::string(unsigned line)> &describe);

} // namespace nereid::jit
