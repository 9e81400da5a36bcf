// Graphs and their executable copies.
#include "hip_sim/graph.h"

#include <algorithm>

namespace nereid::hip_sim {

hipGraphNodeType Node::type() const {
  if (std::holds_alternative<KernelWork>(work))
    return hipGraphNodeTypeKernel;
  if (std::holds_alternative<CopyWork>(work))
    return hipGraphNodeTypeMemcpy;
  if (std::holds_alternative<FillWork>(work))
    return hipGraphNodeTypeMemset;
  return std::holds_alternative<HostWork>(work) ? hipGraphNodeTypeHost : hipGraphNodeTypeEmpty;
}

Node *Graph::add(Work work, std::vector<Node *> after) {
  nodes.push_back(std::make_unique<Node>());
  Node &node = *nodes.back();
  node.work = std::move(work);
  node.after = std::move(after);
  return &node;
}

size_t Graph::index_of(const Node *node) const {
  const auto found = std::find_if(nodes.begin(), nodes.end(), [&](const auto &n) { return n.get() == node; });
  return static_cast<size_t>(found - nodes.begin());
}

bool Graph::holds(const Node *node) const { return index_of(node) < nodes.size(); }

std::vector<Node *> Graph::leaves() const {
  std::vector<Node *> result;
  for (const auto &node : nodes)
    if (std::none_of(nodes.begin(), nodes.end(), [&](const auto &other) {
          return std::find(other->after.begin(), other->after.end(), node.get()) != other->after.end();
        }))
      result.push_back(node.get());
  return result;
}

std::vector<size_t> Graph::order() const {
  std::unordered_map<const Node *, size_t> index;
  for (size_t i = 0; i < nodes.size(); ++i)
    index[nodes[i].get()] = i;
  std::vector<std::vector<size_t>> before(nodes.size());
  std::vector<size_t> missing(nodes.size()), ready, result;
  for (size_t i = 0; i < nodes.size(); ++i) {
    missing[i] = nodes[i]->after.size();
    for (const Node *node : nodes[i]->after)
      before[index.at(node)].push_back(i);
    if (missing[i] == 0)
      ready.push_back(i);
  }
  for (size_t next = 0; next < ready.size(); ++next) {
    result.push_back(ready[next]);
    for (size_t i : before[ready[next]])
      if (--missing[i] == 0)
        ready.push_back(i);
  }
  return result.size() == nodes.size() ? result : std::vector<size_t>();
}

bool GraphExec::build(const Graph &graph) {
  const std::vector<size_t> order = graph.order();
  if (order.size() != graph.nodes.size())
    return false;
  std::unordered_map<const Node *, size_t> step_of_node;
  for (size_t index : order) {
    const Node &node = *graph.nodes[index];
    Step step{&node, node.work, {}, node.type()};
    for (const Node *other : node.after)
      step.after.push_back(step_of_node.at(other));
    step_of_node[&node] = steps.size();
    steps.push_back(std::move(step));
  }
  return true;
}

GraphExec::Step *GraphExec::step_of(const Node *node) {
  const auto found =
      std::find_if(steps.begin(), steps.end(), [&](const Step &step) { return step.node == node; });
  return found == steps.end() ? nullptr : &*found;
}

} // namespace nereid::hip_sim
