#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "jit/device/device_interface.h"

namespace nereid::jit {

/// One thing that a stream of the simulator was given.
struct SimOperation {
  enum class Kind : uint8_t { Launch, Write, Read, Copy, Fill, Host };
  Kind kind;
  std::function<Status()> run;
};
using SimOperations = std::vector<SimOperation>;

/// A stream of the simulator. What it is given is done at once, except in a capture.
class SimStream final : public StreamState {
public:
  bool is_recording() const { return recording_; }
  void start() {
    const std::lock_guard lock(mutex_);
    recording_ = true;
  }
  /// What was recorded since.
  SimOperations finish() {
    const std::lock_guard lock(mutex_);
    recording_ = false;
    return std::exchange(operations_, {});
  }
  void record(SimOperation operation) {
    const std::lock_guard lock(mutex_);
    operations_.push_back(std::move(operation));
  }

private:
  std::atomic<bool> recording_ = false;
  std::mutex mutex_;
  SimOperations operations_;
};

/// What was recorded; a launch does it again, in order, up to the first error.
class SimGraph final : public GraphState {
public:
  explicit SimGraph(SimOperations operations)
      : operations_(std::make_shared<const SimOperations>(std::move(operations))) {}

  Status instantiate() override { return {}; }
  Status launch(StreamState *stream) override;
  Status update(GraphState &other) override;

private:
  std::shared_ptr<const SimOperations> operations();

  std::mutex mutex_;
  std::shared_ptr<const SimOperations> operations_;
};

} // namespace nereid::jit
