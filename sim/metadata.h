#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/code_object.h"

namespace nereid::sim {

/// A kernel as the metadata note lists it; the descriptor's fields are still empty.
struct KernelMetadata {
  KernelInfo info;
  std::string symbol; ///< of the descriptor, "name.kd"
};

/// Reads the MessagePack note of a code object (amdhsa.kernels).
Result<std::vector<KernelMetadata>> read_metadata(std::string_view note);

} // namespace nereid::sim
