#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/object/code_object.h"

namespace nereid::sim {

/// A kernel as the metadata note lists it; the descriptor's fields are still empty.
struct KernelMetadata {
  KernelInfo info;
  std::string symbol; ///< of the descriptor, "name.kd"
  /// What the descriptor says as well; nothing where the metadata does not say it.
  std::optional<uint32_t> lds_size, scratch_size;
};

/// Reads the MessagePack note of a code object (amdhsa.kernels).
Result<std::vector<KernelMetadata>> read_metadata(std::string_view note);

} // namespace nereid::sim
