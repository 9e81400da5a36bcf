#pragma once

#include <map>
#include <memory>
#include <vector>

#include "hip_sim/hip.h"

namespace nereid::hip_sim {

/// What belongs to a thread of the program.
struct ThreadState {
  int device = 0;
  hipError_t last_error = hipSuccess;
  hipStreamCaptureMode capture_mode = hipStreamCaptureModeGlobal;
  std::map<int, std::shared_ptr<Stream>> streams; ///< hipStreamPerThread, by device
  std::vector<Device *> contexts;                 ///< pushed ones
};

ThreadState &this_thread();

} // namespace nereid::hip_sim
