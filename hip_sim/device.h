#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "hip_sim/executor.h"

namespace nereid::hip_sim {

/// A pool that allocations of streams come from. It only counts: what is freed is released at once.
struct Pool {
  explicit Pool(Device &device) : device(&device) {}
  Device *device;
  uint64_t used = 0, high = 0; ///< bytes
  uint64_t release_threshold = 0;
  int reuse[3] = {1, 1, 1}; ///< the attributes hipMemPoolReuse...
};

/// A simulated MI355X.
struct Device {
  int index = 0;
  /// After a fault: what every call says until hipDeviceReset.
  hipError_t lost = hipSuccess;
  std::shared_ptr<Stream> null_stream;
  /// The last operation of each blocking stream, by id, since the last one of the null stream, which waits
  /// for them.
  std::vector<std::pair<uint64_t, OperationPtr>> blocking_tails;
  std::set<int> peers; ///< whose memory it may access
  uint64_t used = 0;   ///< bytes
  unsigned flags = 0;
  Pool *default_pool = nullptr;
  Pool *pool = nullptr; ///< the current one
};

} // namespace nereid::hip_sim
