#pragma once

#include <string>
#include <vector>

namespace nereid {

/// One line of what this machine has: a compiler, or why it is not there.
struct CompilerAvailability {
  std::string name; ///< "comgr", "embedded"
  bool available = false;
  bool chosen = false;
  std::string detail; ///< its version and identity, or the reason
};

/// Both compilers, and which one NEREID_COMPILER and the machine choose.
std::vector<CompilerAvailability> compilers();

} // namespace nereid
