#pragma once

#include "hip_sim/runtime.h"

namespace nereid::hip_sim {

/// What a program says of a launch; arguments as an array of pointers, or as a block in `extra`.
struct LaunchRequest {
  hipFunction_t function = nullptr;
  dim3 grid, block;
  size_t dynamic_lds = 0;
  void **arguments = nullptr;
  void **extra = nullptr;
};

/// Whether the device can run it.
hipError_t check_launch(Runtime &hip, const LaunchRequest &request);
/// The arguments are copied. Of a checked launch.
KernelWork launch_work(Runtime &hip, const LaunchRequest &request);

} // namespace nereid::hip_sim
