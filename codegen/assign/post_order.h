#pragma once

#include <utility>
#include <vector>

#include "codegen/assign/layout_request.h"

/// Chains of operations are as long as the author makes them, stacks are not: what a value takes is worked
/// off from a list, in the order of a recursion.
namespace nereid::codegen {

/// A value that is wanted in a layout, and what has to be there before it can be made.
template <class Result> struct Demand {
  LayoutRequest wanted;
  std::vector<LayoutRequest> inputs{};
  std::vector<Result> results{}; ///< of the inputs, in order, as far as they are there
};

/// `find(request)` gives what was made before (a pointer or an optional); `open(request)` the Demand of what
/// was not, or a struct derived from it; `finish(demand)`, once all inputs are there, makes the value and
/// keeps it for `find`.
template <class Find, class Open, class Finish>
auto make_in_post_order(const LayoutRequest &root, const Find &find, const Open &open, const Finish &finish) {
  std::vector<decltype(open(root))> waiting;
  waiting.push_back(open(root));
  for (;;) {
    auto &demand = waiting.back();
    if (demand.results.size() < demand.inputs.size()) {
      const LayoutRequest &input = demand.inputs[demand.results.size()];
      if (auto known = find(input))
        demand.results.push_back(*std::move(known));
      else
        waiting.push_back(open(input));
      continue;
    }
    auto result = finish(demand);
    waiting.pop_back();
    if (waiting.empty())
      return result;
    waiting.back().results.push_back(std::move(result));
  }
}

} // namespace nereid::codegen
