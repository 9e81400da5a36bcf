// Nodes of graphs: adding them, reading and changing their parameters, in a graph or in its executable copy.
#include <cstring>

#include "hip_sim/entry.h"
#include "hip_sim/launch.h"
#include "hip_sim/log.h"
#include "hip_sim/module.h"
#include "hip_sim/transfer.h"

namespace nereid::hip_sim {
namespace {

/// The work of a node's parameters, or why they are bad.
using Build = hipError_t (*)(Runtime &, const void *, Work &);

hipError_t build_kernel(Runtime &hip, const void *parameters, Work &work) {
  if (!parameters)
    return hipErrorInvalidValue;
  const auto &given = *static_cast<const hipKernelNodeParams *>(parameters);
  const LaunchRequest request{static_cast<hipFunction_t>(given.func),
                              given.gridDim,
                              given.blockDim,
                              given.sharedMemBytes,
                              given.kernelParams,
                              given.extra};
  NEREID_HIP_CHECK(check_launch(hip, request));
  work = launch_work(hip, request);
  return hipSuccess;
}

hipError_t build_copy(Runtime &hip, const void *parameters, Work &work) {
  const auto &request = *static_cast<const CopyRequest *>(parameters);
  NEREID_HIP_CHECK(check_copy(hip, request));
  work = copy_work(request);
  return hipSuccess;
}

hipError_t build_fill(Runtime &hip, const void *parameters, Work &work) {
  if (!parameters)
    return hipErrorInvalidValue;
  const auto &given = *static_cast<const hipMemsetParams *>(parameters);
  const FillWork fill{given.dst,         given.elementSize == 1 ? given.value & 0xFF : given.value,
                      given.elementSize, given.width,
                      given.height,      given.pitch};
  NEREID_HIP_CHECK(check_fill(hip, fill));
  work = fill;
  return hipSuccess;
}

hipError_t build_host(Runtime &, const void *parameters, Work &work) {
  const auto *given = static_cast<const hipHostNodeParams *>(parameters);
  if (!given || !given->fn)
    return hipErrorInvalidValue;
  work = HostWork{given->fn, nullptr, nullptr, given->userData};
  return hipSuccess;
}

hipError_t build_nothing(Runtime &, const void *, Work &) { return hipSuccess; }

hipError_t add_node(Entry entry, hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *after,
                    size_t count, Build build, const void *parameters) {
  return call(entry, [&](Runtime &hip, Lock &) {
    const std::shared_ptr<Graph> found = hip.graphs.find(graph);
    if (!node || !found || (count && !after))
      return hipErrorInvalidValue;
    for (size_t i = 0; i < count; ++i)
      if (!found->holds(after[i]))
        return hipErrorInvalidValue;
    Work work;
    NEREID_HIP_CHECK(build(hip, parameters, work));
    *node = found->add(std::move(work), std::vector<Node *>(after, after + count));
    return hipSuccess;
  });
}

Node *find_node(Runtime &hip, hipGraphNode_t node) {
  return hip.graphs.any([&](const Graph &graph) { return graph.holds(node); }) ? node : nullptr;
}

/// New work for a node of the same kind.
hipError_t set_node(Entry entry, hipGraphNode_t node, Build build, const void *parameters) {
  return call(entry, [&](Runtime &hip, Lock &) {
    Node *found = find_node(hip, node);
    Work work;
    if (!found)
      return hipErrorInvalidValue;
    NEREID_HIP_CHECK(build(hip, parameters, work));
    if (work.index() != found->work.index())
      return hipErrorInvalidValue;
    found->work = std::move(work);
    return hipSuccess;
  });
}

hipError_t set_step(Entry entry, hipGraphExec_t exec, hipGraphNode_t node, Build build,
                    const void *parameters) {
  return call(entry, [&](Runtime &hip, Lock &) {
    const std::shared_ptr<GraphExec> found = hip.execs.find(exec);
    GraphExec::Step *step = found ? found->step_of(node) : nullptr;
    Work work;
    if (!step)
      return hipErrorInvalidValue;
    NEREID_HIP_CHECK(build(hip, parameters, work));
    if (work.index() != step->work.index())
      return hipErrorInvalidValue;
    step->work = std::move(work);
    return hipSuccess;
  });
}

} // namespace

hipError_t hipGraphAddEmptyNode(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *after,
                                size_t count) {
  return add_node(Entry::hipGraphAddEmptyNode, node, graph, after, count, build_nothing, nullptr);
}
hipError_t hipGraphAddKernelNode(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *after,
                                 size_t count, const hipKernelNodeParams *parameters) {
  return add_node(Entry::hipGraphAddKernelNode, node, graph, after, count, build_kernel, parameters);
}
hipError_t hipGraphAddMemcpyNode1D(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *after,
                                   size_t count, void *to, const void *from, size_t bytes,
                                   hipMemcpyKind kind) {
  const CopyRequest request = flat_copy(to, from, bytes, kind);
  return add_node(Entry::hipGraphAddMemcpyNode1D, node, graph, after, count, build_copy, &request);
}
hipError_t hipGraphAddMemsetNode(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *after,
                                 size_t count, const hipMemsetParams *parameters) {
  return add_node(Entry::hipGraphAddMemsetNode, node, graph, after, count, build_fill, parameters);
}
hipError_t hipGraphAddHostNode(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *after,
                               size_t count, const hipHostNodeParams *parameters) {
  return add_node(Entry::hipGraphAddHostNode, node, graph, after, count, build_host, parameters);
}

hipError_t hipGraphNodeGetType(hipGraphNode_t node, hipGraphNodeType *type) {
  return call(Entry::hipGraphNodeGetType, [&](Runtime &hip, Lock &) {
    const Node *found = find_node(hip, node);
    if (!found || !type)
      return hipErrorInvalidValue;
    *type = found->type();
    return hipSuccess;
  });
}

hipError_t hipGraphKernelNodeGetParams(hipGraphNode_t node, hipKernelNodeParams *parameters) {
  return call(Entry::hipGraphKernelNodeGetParams, [&](Runtime &hip, Lock &) {
    Node *found = find_node(hip, node);
    auto *work = found ? std::get_if<KernelWork>(&found->work) : nullptr;
    if (!work || !parameters)
      return hipErrorInvalidValue;
    found->argument_pointers.clear();
    for (const sim::KernelArgument &argument : work->function->kernel->arguments)
      if (!argument.hidden())
        found->argument_pointers.push_back(work->arguments.data() + argument.offset);
    *parameters = {{work->block[0], work->block[1], work->block[2]},
                   nullptr,
                   const_cast<Function *>(work->function.get()),
                   {work->grid[0], work->grid[1], work->grid[2]},
                   found->argument_pointers.data(),
                   work->dynamic_lds};
    return hipSuccess;
  });
}
hipError_t hipGraphKernelNodeSetParams(hipGraphNode_t node, const hipKernelNodeParams *parameters) {
  return set_node(Entry::hipGraphKernelNodeSetParams, node, build_kernel, parameters);
}
hipError_t hipGraphMemcpyNodeSetParams1D(hipGraphNode_t node, void *to, const void *from, size_t bytes,
                                         hipMemcpyKind kind) {
  const CopyRequest request = flat_copy(to, from, bytes, kind);
  return set_node(Entry::hipGraphMemcpyNodeSetParams1D, node, build_copy, &request);
}
hipError_t hipGraphMemsetNodeGetParams(hipGraphNode_t node, hipMemsetParams *parameters) {
  return call(Entry::hipGraphMemsetNodeGetParams, [&](Runtime &hip, Lock &) {
    const Node *found = find_node(hip, node);
    const auto *work = found ? std::get_if<FillWork>(&found->work) : nullptr;
    if (!work || !parameters)
      return hipErrorInvalidValue;
    *parameters = {work->to, work->element, work->height, work->pitch, work->value, work->width};
    return hipSuccess;
  });
}
hipError_t hipGraphMemsetNodeSetParams(hipGraphNode_t node, const hipMemsetParams *parameters) {
  return set_node(Entry::hipGraphMemsetNodeSetParams, node, build_fill, parameters);
}

hipError_t hipGraphExecKernelNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node,
                                           const hipKernelNodeParams *parameters) {
  return set_step(Entry::hipGraphExecKernelNodeSetParams, exec, node, build_kernel, parameters);
}
hipError_t hipGraphExecMemcpyNodeSetParams1D(hipGraphExec_t exec, hipGraphNode_t node, void *to,
                                             const void *from, size_t bytes, hipMemcpyKind kind) {
  const CopyRequest request = flat_copy(to, from, bytes, kind);
  return set_step(Entry::hipGraphExecMemcpyNodeSetParams1D, exec, node, build_copy, &request);
}
hipError_t hipGraphExecMemsetNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node,
                                           const hipMemsetParams *parameters) {
  return set_step(Entry::hipGraphExecMemsetNodeSetParams, exec, node, build_fill, parameters);
}

} // namespace nereid::hip_sim
