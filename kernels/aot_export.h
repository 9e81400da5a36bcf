#pragma once

#include <array>
#include <memory>
#include <string_view>
#include <vector>

#include "jit/aot/export.h"
#include "kernels/library_kernel.h"

namespace nereid::kernels {

/// A kernel of the library as an export: what its code relies on beyond the specialisation (sizes that it
/// takes by its rule, tails that were left out, a constant K, no alpha and beta), its grid, its memory.
aot::Export aot_export(std::shared_ptr<const CompiledKernel> compiled, const BoundKernel &bound,
                       const std::vector<ConfigValue> &config, const std::array<GridTerm, 3> &terms,
                       std::string_view summary, const SizeRule &rule);

} // namespace nereid::kernels
