// Graphs and their edges.
#include <algorithm>
#include <unordered_map>

#include "hip_sim/entry.h"

namespace nereid::hip_sim {
namespace {

hipError_t nodes_into(const std::vector<Node *> &found, hipGraphNode_t *nodes, size_t *count) {
  if (!count)
    return hipErrorInvalidValue;
  if (nodes) {
    std::copy_n(found.begin(), std::min(*count, found.size()), nodes);
    std::fill(nodes + std::min(*count, found.size()), nodes + *count, nullptr);
  }
  *count = nodes ? std::min(*count, found.size()) : found.size();
  return hipSuccess;
}

/// The body of an entry point on a graph: `body(runtime, graph)`.
template <class Body> hipError_t call_on_graph(Entry entry, hipGraph_t graph, Body body) {
  return call(entry, [&](Runtime &hip, Lock &) {
    const std::shared_ptr<Graph> found = hip.graphs.find(graph);
    return found ? body(hip, *found) : hipErrorInvalidValue;
  });
}

} // namespace

hipError_t hipGraphCreate(hipGraph_t *graph, unsigned flags) {
  return call(Entry::hipGraphCreate, [&](Runtime &hip, Lock &) {
    if (!graph || flags)
      return hipErrorInvalidValue;
    *graph = hip.graphs.add(std::make_shared<Graph>());
    return hipSuccess;
  });
}

hipError_t hipGraphDestroy(hipGraph_t graph) {
  return call(Entry::hipGraphDestroy, [&](Runtime &hip, Lock &) {
    return hip.graphs.remove(graph) ? hipSuccess : hipErrorInvalidValue;
  });
}

hipError_t hipGraphClone(hipGraph_t *clone, hipGraph_t graph) {
  return call_on_graph(Entry::hipGraphClone, graph, [&](Runtime &hip, const Graph &original) {
    if (!clone)
      return hipErrorInvalidValue;
    auto copy = std::make_shared<Graph>();
    std::unordered_map<const Node *, Node *> twins;
    for (const auto &node : original.nodes)
      twins[node.get()] = copy->add(node->work, {});
    for (const auto &node : original.nodes)
      for (const Node *other : node->after)
        twins[node.get()]->after.push_back(twins.at(other));
    *clone = hip.graphs.add(std::move(copy));
    return hipSuccess;
  });
}

hipError_t hipGraphGetNodes(hipGraph_t graph, hipGraphNode_t *nodes, size_t *count) {
  return call_on_graph(Entry::hipGraphGetNodes, graph, [&](Runtime &, const Graph &found) {
    std::vector<Node *> all;
    for (const auto &node : found.nodes)
      all.push_back(node.get());
    return nodes_into(all, nodes, count);
  });
}

hipError_t hipGraphGetRootNodes(hipGraph_t graph, hipGraphNode_t *nodes, size_t *count) {
  return call_on_graph(Entry::hipGraphGetRootNodes, graph, [&](Runtime &, const Graph &found) {
    std::vector<Node *> roots;
    for (const auto &node : found.nodes)
      if (node->after.empty())
        roots.push_back(node.get());
    return nodes_into(roots, nodes, count);
  });
}

hipError_t hipGraphGetEdges(hipGraph_t graph, hipGraphNode_t *from, hipGraphNode_t *to, size_t *count) {
  return call_on_graph(Entry::hipGraphGetEdges, graph, [&](Runtime &, const Graph &found) {
    std::vector<Node *> starts, ends;
    for (const auto &node : found.nodes)
      for (Node *other : node->after) {
        starts.push_back(other);
        ends.push_back(node.get());
      }
    if (!count || !from != !to)
      return hipErrorInvalidValue;
    size_t same = *count;
    NEREID_HIP_CHECK(nodes_into(starts, from, &same));
    return nodes_into(ends, to, count);
  });
}

hipError_t hipGraphAddDependencies(hipGraph_t graph, const hipGraphNode_t *from, const hipGraphNode_t *to,
                                   size_t count) {
  return call_on_graph(Entry::hipGraphAddDependencies, graph, [&](Runtime &, Graph &found) {
    if (count && (!from || !to))
      return hipErrorInvalidValue;
    for (size_t i = 0; i < count; ++i)
      if (!found.holds(from[i]) || !found.holds(to[i]) || from[i] == to[i] ||
          std::find(to[i]->after.begin(), to[i]->after.end(), from[i]) != to[i]->after.end())
        return hipErrorInvalidValue;
    for (size_t i = 0; i < count; ++i)
      to[i]->after.push_back(from[i]);
    return hipSuccess;
  });
}

} // namespace nereid::hip_sim
