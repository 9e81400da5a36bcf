#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "hip_sim/executor.h"

namespace nereid::hip_sim {

/// Work in a graph, after other nodes of it.
struct Node {
  Work work;
  std::vector<Node *> after;
  /// What hipGraphKernelNodeGetParams points to.
  std::vector<void *> argument_pointers;

  hipGraphNodeType type() const;
};

/// Work with its dependencies. Nodes stay where they are.
struct Graph {
  std::vector<std::unique_ptr<Node>> nodes; ///< in the order in which they were added

  Node *add(Work work, std::vector<Node *> after);
  bool holds(const Node *node) const;
  std::vector<Node *> leaves() const;
  /// The positions of the nodes, each after those that it comes after. Empty when they form a circle.
  std::vector<size_t> order() const;
  size_t index_of(const Node *node) const;
};

/// A graph that can be launched: a copy, so that the graph may change or go.
struct GraphExec {
  struct Step {
    const Node *node; ///< that it is a copy of; only to be compared
    Work work;
    std::vector<size_t> after; ///< earlier steps
    hipGraphNodeType type;
  };
  std::vector<Step> steps;
  OperationPtr last; ///< launches of one GraphExec run one after the other

  /// False when the nodes form a circle.
  bool build(const Graph &graph);
  Step *step_of(const Node *node);
};

} // namespace nereid::hip_sim
