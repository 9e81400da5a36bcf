#pragma once

#include <string>

#include "inspect/inspect.h"
#include "kernels/registry.h"

namespace nereid::tools {

/// A launch of a kernel of the library without a caller's operands, by its size and `numbers`,
/// "heads=32,batch=4"; may be empty. `caches` too, then they are cold. Error (User): the kernel does not take
/// them.
Result<inspect::RunRequest> sized_run(const kernels::ConfiguredKernel &configured, const std::string &numbers,
                                      const std::string &caches);

} // namespace nereid::tools
