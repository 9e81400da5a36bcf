// Executable graphs.
#include "hip_sim/capture.h"
#include "hip_sim/entry.h"

namespace nereid::hip_sim {
namespace {

hipError_t instantiate(Entry entry, hipGraphExec_t *exec, hipGraph_t graph) {
  return call(entry, [&](Runtime &hip, Lock &) {
    const std::shared_ptr<Graph> found = hip.graphs.find(graph);
    auto made = std::make_shared<GraphExec>();
    if (!exec || !found || !made->build(*found))
      return hipErrorInvalidValue;
    *exec = hip.execs.add(std::move(made));
    return hipSuccess;
  });
}

/// What keeps an executable graph from becoming another graph, and at which of the graph's nodes.
hipGraphExecUpdateResult difference(const GraphExec &exec, const GraphExec &other, const Node *&at) {
  if (exec.steps.size() != other.steps.size())
    return hipGraphExecUpdateErrorTopologyChanged;
  for (size_t i = 0; i < exec.steps.size(); ++i) {
    at = other.steps[i].node;
    if (exec.steps[i].type != other.steps[i].type)
      return hipGraphExecUpdateErrorNodeTypeChanged;
    if (exec.steps[i].after != other.steps[i].after)
      return hipGraphExecUpdateErrorTopologyChanged;
  }
  at = nullptr;
  return hipGraphExecUpdateSuccess;
}

} // namespace

hipError_t hipGraphInstantiate(hipGraphExec_t *exec, hipGraph_t graph, hipGraphNode_t *error_node, char *log,
                               size_t log_size) {
  if (error_node)
    *error_node = nullptr;
  if (log && log_size)
    *log = '\0';
  return instantiate(Entry::hipGraphInstantiate, exec, graph);
}
hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t *exec, hipGraph_t graph, unsigned long long) {
  return instantiate(Entry::hipGraphInstantiateWithFlags, exec, graph);
}

hipError_t hipGraphUpload(hipGraphExec_t exec, hipStream_t stream) {
  return call_on_stream(Entry::hipGraphUpload, stream, [&](Runtime &hip, Lock &, Stream &) {
    return hip.execs.find(exec) ? hipSuccess : hipErrorInvalidValue;
  });
}

hipError_t hipGraphLaunch(hipGraphExec_t exec, hipStream_t stream) {
  return call_on_stream(Entry::hipGraphLaunch, stream, [&](Runtime &hip, Lock &lock, Stream &on) {
    const std::shared_ptr<GraphExec> found = hip.execs.find(exec);
    if (!found)
      return hipErrorInvalidValue;
    if (on.capture)
      return hipErrorStreamCaptureUnsupported; // a graph inside a graph
    NEREID_HIP_CHECK(legacy_stream_conflict(hip, on));
    const OperationPtr begin = append(hip, on, std::monostate(), {found->last});
    std::vector<OperationPtr> all;
    for (const GraphExec::Step &step : found->steps) {
      std::vector<OperationPtr> waits{begin};
      for (size_t index : step.after)
        waits.push_back(all[index]);
      const bool skipped = !hip.launches && step.type == hipGraphNodeTypeKernel;
      all.push_back(hip.executor.add(*on.device, skipped ? Work() : step.work, std::move(waits)));
    }
    found->last = append(hip, on, std::monostate(), std::move(all));
    if (hip.options.eager)
      hip.executor.finish(hip, lock, OperationPtr(found->last));
    else
      hip.executor.bound(hip, lock);
    return on.device->lost;
  });
}

hipError_t hipGraphExecDestroy(hipGraphExec_t exec) {
  return call(Entry::hipGraphExecDestroy, [&](Runtime &hip, Lock &) {
    return hip.execs.remove(exec) ? hipSuccess : hipErrorInvalidValue;
  });
}

hipError_t hipGraphExecUpdate(hipGraphExec_t exec, hipGraph_t graph, hipGraphNode_t *error_node,
                              hipGraphExecUpdateResult *result) {
  return call(Entry::hipGraphExecUpdate, [&](Runtime &hip, Lock &) {
    const std::shared_ptr<GraphExec> found = hip.execs.find(exec);
    const std::shared_ptr<Graph> changed = hip.graphs.find(graph);
    GraphExec other;
    if (!found || !changed || !result || !other.build(*changed))
      return hipErrorInvalidValue;
    const Node *at = nullptr;
    *result = difference(*found, other, at);
    if (error_node)
      *error_node = const_cast<Node *>(at);
    if (*result != hipGraphExecUpdateSuccess)
      return hipErrorGraphExecUpdateFailure;
    for (size_t i = 0; i < found->steps.size(); ++i)
      found->steps[i].work = std::move(other.steps[i].work);
    return hipSuccess;
  });
}

} // namespace nereid::hip_sim
