#pragma once

#include "base/result.h"
#include "jit/compile/compiled_kernel.h"

namespace nereid::jit {

/// Whether a kernel's resources let it win. Errors (User): it has scratch memory; a workgroup does not fit a
/// compute unit; fewer waves are resident than its config's waves_per_eu. Registers that were spilled to
/// lanes of other registers, without scratch, refuse nothing.
Status check_resources(const CompiledKernel &kernel);

} // namespace nereid::jit
