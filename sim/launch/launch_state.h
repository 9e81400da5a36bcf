#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "sim/launch/launch.h"
#include "sim/object/code_object.h"
#include "sim/state/memory.h"

namespace nereid::sim {

/// What is the same for every workgroup of a launch. Frees what the launch put into memory for itself.
struct LaunchState {
  const CodeObject *code;
  const KernelInfo *kernel;
  const Launch *launch;
  Memory *device;
  Memory::View memory;
  uint64_t kernarg_address = 0;
  std::vector<std::byte> kernarg;
  uint64_t dispatch_address = 0;
  uint64_t queue_address = 0;
  uint64_t image_base = 0;
  uint32_t lds_size = 0;
  uint32_t scratch_size = 0;
  uint32_t wave_count = 0; ///< of a workgroup
  uint64_t group_count = 0;
  /// Whether MFMAs compute; timing needs only that they were executed.
  bool compute_products = true;
  std::atomic<uint64_t> executed{0}; ///< wave instructions so far, counted in parts: see WorkgroupRunner
  std::vector<uint64_t> buffers;     ///< that belong to the launch

  LaunchState() = default;
  LaunchState(const LaunchState &) = delete;
  LaunchState &operator=(const LaunchState &) = delete;
  ~LaunchState();

  /// Checks a launch and fills the memory it needs. `code`, `memory` and `launch` have to outlive the result.
  static Result<std::unique_ptr<LaunchState>> prepare(const CodeObject &code, Memory &memory,
                                                      const Launch &launch);
  /// The same launch on a copy of its memory.
  std::unique_ptr<LaunchState> on_copy(const CodeObject &same_code, Memory &copy,
                                       const Launch &same_launch) const;
};

} // namespace nereid::sim
