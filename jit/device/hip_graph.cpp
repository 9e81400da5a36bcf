// Graphs on a GPU: instantiated when they are first wanted, launched, updated.
#include "jit/device/hip_graph.h"

#include "jit/device/hip_device.h"

namespace nereid::jit {

std::shared_ptr<const HipHandle> HipGraph::graph() {
  const std::lock_guard lock(mutex_);
  return graph_;
}

Status HipGraph::make_executable() {
  if (executable_)
    return {};
  void *made = nullptr;
  NEREID_CHECK(hip_call(
      api_, index_, [] { return "instantiating a graph"; }, "hipGraphInstantiate", api_.hipGraphInstantiate,
      &made, graph_->get(), nullptr, nullptr, 0));
  executable_ = std::make_unique<const HipHandle>(api_, index_, made, api_.hipGraphExecDestroy);
  return {};
}

Status HipGraph::instantiate() {
  const std::lock_guard lock(mutex_);
  return make_executable();
}

Status HipGraph::launch(StreamState *stream) {
  const std::lock_guard lock(mutex_);
  NEREID_CHECK(make_executable());
  return hip_call(
      api_, index_, [] { return "launching a graph"; }, "hipGraphLaunch", api_.hipGraphLaunch,
      executable_->get(), hip_stream(stream));
}

Status HipGraph::update(GraphState &other) {
  std::shared_ptr<const HipHandle> wanted = static_cast<HipGraph &>(other).graph();
  const std::lock_guard lock(mutex_);
  NEREID_CHECK(make_executable());
  void *node = nullptr;
  int reason = 0;
  Status updated = hip_call(
      api_, index_, [] { return "updating a graph"; }, "hipGraphExecUpdate", api_.hipGraphExecUpdate,
      executable_->get(), wanted->get(), &node, &reason);
  if (updated) {
    graph_ = std::move(wanted);
    return {};
  }
  // What a failed update left is not said: the next launch makes the executable anew of the old graph.
  executable_.reset();
  return updated;
}

} // namespace nereid::jit
