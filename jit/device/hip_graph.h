#pragma once

#include <memory>
#include <mutex>

#include "jit/device/device_interface.h"
#include "jit/device/hip_api.h"

namespace nereid::jit {

/// What HIP captured of a stream, and its executable form once it was wanted.
class HipGraph final : public GraphState {
public:
  HipGraph(const HipApi &api, int index, std::shared_ptr<const HipHandle> graph)
      : api_(api), index_(index), graph_(std::move(graph)) {}

  Status instantiate() override;
  Status launch(StreamState *stream) override;
  Status update(GraphState &other) override;

private:
  std::shared_ptr<const HipHandle> graph();
  Status make_executable(); ///< under the lock

  const HipApi &api_;
  int index_;
  std::mutex mutex_;
  std::shared_ptr<const HipHandle> graph_; ///< shared with graphs that were updated with this one
  std::unique_ptr<const HipHandle> executable_;
};

} // namespace nereid::jit
