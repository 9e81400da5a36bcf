// Graphs of the simulator.
#include "jit/device/sim_stream.h"

#include <algorithm>

namespace nereid::jit {

std::shared_ptr<const SimOperations> SimGraph::operations() {
  const std::lock_guard lock(mutex_);
  return operations_;
}

Status SimGraph::launch(StreamState *) {
  for (const SimOperation &operation : *operations())
    NEREID_CHECK(operation.run());
  return {};
}

Status SimGraph::update(GraphState &other) {
  const std::shared_ptr<const SimOperations> wanted = static_cast<SimGraph &>(other).operations();
  const std::lock_guard lock(mutex_);
  if (!std::equal(operations_->begin(), operations_->end(), wanted->begin(), wanted->end(),
                  [](const SimOperation &a, const SimOperation &b) { return a.kind == b.kind; }))
    return user_error("a graph was to be updated with one that has other operations",
                      "Launch the other graph itself");
  operations_ = wanted;
  return {};
}

} // namespace nereid::jit
