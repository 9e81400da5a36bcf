#pragma once

#include <memory>
#include <vector>

#include "jit/compile/code_object_metadata.h"
#include "jit/device/device.h"
#include "jit/device/loaded_module.h"

namespace nereid::jit {

/// What the copies of a Module share.
struct ModuleState {
  Device device;
  std::vector<KernelMetadata> kernels;
  std::shared_ptr<const LoadedModule> loaded;
};

} // namespace nereid::jit
