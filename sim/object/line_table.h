#pragma once

#include <cstdint>
#include <string_view>

#include "base/error.h"

namespace nereid::sim {

/// The sections of DWARF (versions 2 to 5, 32-bit format) that say from which line of which file the
/// instructions come.
struct LineSections {
  std::string_view lines;        ///< .debug_line
  std::string_view line_strings; ///< .debug_line_str
  std::string_view strings;      ///< .debug_str
};

/// The line of an address; not known when no table has it. Tables may be damaged: what cannot be read ends
/// them.
SourceLine find_line(const LineSections &sections, uint64_t address);

} // namespace nereid::sim
