#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "hip_sim/work.h"

namespace nereid::hip_sim {

using Lock = std::unique_lock<std::mutex>;

/// A piece of work that waits for others. It stays when it is done, as the time at which it was.
struct Operation {
  enum class State { Pending, Running, Done };

  uint64_t sequence = 0; ///< in the order of the calls; greater than those of all that it waits for
  Device *device = nullptr;
  Work work;
  std::vector<std::shared_ptr<Operation>> waits; ///< empty once it is done
  State state = State::Pending;
  std::chrono::steady_clock::time_point finished; ///< on the host's clock
  double finished_us = 0;                         ///< simulated, since the device began
};
using OperationPtr = std::shared_ptr<Operation>;

/// Runs queued work only when somebody waits for it, in the order in which it was queued: a program that does
/// not wait sees old data, every time. Work that does not depend on each other runs at the same time when
/// several threads wait. All members want the runtime's lock, which they release while work runs.
class Executor {
public:
  OperationPtr add(Device &device, Work work, std::vector<OperationPtr> waits);
  /// Runs an operation and all that it waits for.
  void finish(Runtime &runtime, Lock &lock, const OperationPtr &operation);
  /// Runs at most one operation of these; true when all are done already. So a loop that polls comes to an
  /// end, and sees that it had to wait.
  bool step(Runtime &runtime, Lock &lock, const OperationPtr &operation);
  /// Runs all that is queued for a device.
  void finish_all(Runtime &runtime, Lock &lock, const Device &device);
  /// Runs the oldest operations while more than a queue's worth are pending.
  void bound(Runtime &runtime, Lock &lock);

private:
  std::vector<OperationPtr> needed_for(const OperationPtr &operation) const;
  void run(Runtime &runtime, Lock &lock, const OperationPtr &operation);

  uint64_t next_ = 1;
  std::map<uint64_t, OperationPtr> pending_; ///< by sequence; what runs, too
  std::condition_variable done_;
};

} // namespace nereid::hip_sim
