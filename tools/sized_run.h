#pragma once

#include <optional>
#include <string>

#include "inspect/inspect.h"
#include "kernels/registry.h"

namespace nereid::tools {

/// A launch of a kernel of the library with zeros as operands. Nothing where its size is not known, or where
/// a launch takes numbers that the size does not give.
std::optional<inspect::RunRequest> sized_run(const kernels::ConfiguredKernel &configured,
                                             const CompiledKernel &kernel, const std::string &caches);

} // namespace nereid::tools
