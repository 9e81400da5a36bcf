#pragma once

#include "base/result.h"
#include "sim/launch/launch.h"
#include "sim/object/code_object.h"
#include "sim/state/memory.h"

namespace nereid::sim {

/// Executes a kernel to its end or to its first fault. Errors are those of the launch itself: unknown kernel,
/// empty grid, block beyond 1024 or the kernel's limit, LDS beyond 160 KiB, arguments too long. Runs on
/// several host threads; may itself be called from several threads on the same memory.
Result<Report> run(const CodeObject &code, Memory &memory, const Launch &launch);

} // namespace nereid::sim
