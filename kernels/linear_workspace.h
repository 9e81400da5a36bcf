#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "jit/device/device.h"
#include "kernels/gemm_plan.h"

namespace nereid::kernels {

/// What a plan needs between its launches, in bytes.
struct WorkspaceNeeds {
  size_t arrivals = 0; ///< i32 counters of last_arrival, one for each tile; zero between calls
  size_t sums = 0;     ///< f32, atomic: [m, n]; workspace and last_arrival: [split_k, m, n]
  size_t a_codes = 0;  ///< two passes: [m, k/2]
  size_t a_scales = 0; ///< two passes: shuffled; their padding holds anything

  static WorkspaceNeeds of(const GemmPlan &plan, const ProblemSize &size);
  /// Of all but the counters.
  size_t scratch() const;
};

/// The parts of a workspace that a plan uses.
struct WorkspaceParts {
  DeviceMemory arrivals, sums, a_codes, a_scales;
};

/// The memory that the calls on one stream share, one call after the other.
class StreamWorkspace {
public:
  /// Grows it where it is too small: what the stream holds already keeps the old memory. In a capture it does
  /// not grow. Errors: no memory; too small in a capture (User), as before then.
  Result<WorkspaceParts> parts(const Stream &stream, const WorkspaceNeeds &needs);

  /// Null while nothing was needed.
  const std::shared_ptr<const Buffer<std::byte>> &memory() const { return memory_; }
  size_t bytes() const { return memory_ ? memory_->bytes() : 0; }
  /// Gives it up: after a launch that failed the counters may hold anything.
  void drop();

  std::mutex &mutex() { return mutex_; }

private:
  Status grow(const Stream &stream, const WorkspaceNeeds &needs);
  /// Zeroes the counters where a launch may have left them otherwise.
  Status reset_arrivals(const Stream &stream);

  std::mutex mutex_; ///< of a call, so that its launches stay together in the stream
  std::shared_ptr<const Buffer<std::byte>> memory_;
  size_t arrivals_ = 0; ///< bytes of counters, which come first
  size_t scratch_ = 0;  ///< bytes after them
  uint64_t faults_ = 0; ///< of the device, when the counters were zeroed
};

/// The workspaces of the streams that live, and those that graphs of others were captured with.
class StreamWorkspaces {
public:
  /// That of a stream.
  std::shared_ptr<StreamWorkspace> of(const Stream &stream);
  /// In a capture: whatever becomes of the graph, the workspace stays as long as it. A graph of
  /// Stream::capture() shares it; other graphs cannot be asked, so it stays as long as this object.
  void keep(const Stream &stream, const StreamWorkspace &workspace);
  /// Gives up all but what graphs have.
  void trim();

  struct Held {
    size_t streams = 0;
    size_t bytes = 0; ///< of their workspaces, and of those that captures of others keep
  };
  Held held();

private:
  struct Entry {
    std::weak_ptr<const jit::StreamState> stream;
    std::shared_ptr<StreamWorkspace> workspace;
  };
  void drop_those_of_dead_streams(); ///< under the lock

  std::mutex mutex_;
  std::map<const jit::StreamState *, Entry> entries_; ///< null: the default stream, which never dies
  std::set<std::shared_ptr<const Buffer<std::byte>>> captured_by_others_;
};

} // namespace nereid::kernels
