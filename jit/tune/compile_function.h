#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/result.h"
#include "jit/compile/compiled_kernel.h"
#include "jit/device/device.h"

namespace nereid {

/// The kernels that one candidate launches.
using CompiledKernels = std::vector<std::shared_ptr<const CompiledKernel>>;
/// Compiles them for a device.
using CompileFunction = std::function<Result<CompiledKernels>(const Device &)>;

} // namespace nereid
