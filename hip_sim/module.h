#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hip_sim/hip.h"
#include "sim/code_object.h"

namespace nereid::hip_sim {

/// A kernel of a loaded code object, which lives as long as it.
struct Function {
  sim::CodeObject code;
  const sim::KernelInfo *kernel;
  const Device *device; ///< that it was loaded on
};

struct Module {
  sim::CodeObject code;
  std::vector<std::shared_ptr<const Function>> functions; ///< one a kernel
};

} // namespace nereid::hip_sim
