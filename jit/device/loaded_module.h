#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "jit/compile/code_object_metadata.h"
#include "jit/device/launch.h"

namespace nereid::jit {

/// A code object of any origin in a device's memory. Owned by a shared pointer, which graphs share.
class LoadedModule : public std::enable_shared_from_this<LoadedModule> {
public:
  virtual ~LoadedModule() = default;
};

/// One launch of a kernel of a loaded module, all of it checked.
struct ModuleLaunch {
  const LoadedModule &module;
  const KernelMetadata &kernel;
  Grid grid;
  std::array<uint32_t, 3> block; ///< work-items of a workgroup
  uint32_t dynamic_lds;          ///< bytes in addition to the kernel's own
  /// The explicit arguments; the device fills in the hidden ones.
  std::span<const std::byte> kernarg;
};

} // namespace nereid::jit
