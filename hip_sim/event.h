#pragma once

#include <memory>
#include <vector>

#include "hip_sim/executor.h"

namespace nereid::hip_sim {

struct Capture;

/// A point in a stream.
struct Event {
  Device *device = nullptr;
  unsigned flags = 0;
  OperationPtr recorded; ///< null: never recorded, which counts as done
  /// The capture in which it was recorded last, and what a stream that waits for it comes after.
  std::weak_ptr<Capture> capture;
  std::vector<Node *> captured;
};

} // namespace nereid::hip_sim
