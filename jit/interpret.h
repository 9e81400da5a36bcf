#pragma once

#include <span>

#include "base/result.h"
#include "dsl/ir/function.h"
#include "jit/device/argument_value.h"
#include "jit/device/device_interface.h"
#include "jit/device/launch.h"

namespace nereid::jit {

/// Runs a kernel's IR on the host, on the memory of a device. Errors: the interpreter's own (user), a device
/// whose memory the host cannot see (environment).
Status run_interpreter(const ir::Function &function, Grid grid, std::span<const ArgumentValue> arguments,
                       DeviceInterface &device);

} // namespace nereid::jit
